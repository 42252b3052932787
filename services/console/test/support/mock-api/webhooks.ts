import { randomBytes } from 'node:crypto';
import { newId, routes } from '@svc/contracts';
import { AppError, type Binding, bind, invalidField } from '@svc/service-kit';
import { type MockState, possessionsOf, type WebhookEvent } from './state.ts';

const DAY_MS = 86_400_000;

/** The routes of the webhook dispatcher that the pages call. */
export const webhookBindings = (state: MockState): Binding[] => [
  ...configurationBindings(state),
  ...eventBindings(state),
  ...accountBindings(state),
];

/** The account's webhook is stored like one of an app, under the id of the account. */
const accountBindings = (state: MockState): Binding[] => [
  bind(routes.configureAccountWebhook, async ({ body: { url }, caller: { userId } }) => {
    const members = { url, generation: 1, created_at: new Date().toISOString(), state: 'ok' as const };
    const configuration = { ...members, blocked_by_event_id: null, paused_at: null };
    state.webhooks.set(userId, { client_id: userId, ...configuration });
    return { status: 200, body: { account_id: userId, ...configuration, signing_secret: 'whsec_c2VjcmV0' } };
  }),
  bind(routes.getAccountWebhook, async ({ caller: { userId } }) => {
    const configuration = state.webhooks.get(userId);
    if (configuration === undefined) throw new AppError('not_found');
    const { client_id: account_id, ...members } = configuration;
    return { status: 200, body: { account_id, ...members } };
  }),
  bind(routes.deleteAccountWebhook, async ({ caller: { userId } }) => {
    state.webhooks.delete(userId);
    return { status: 204 };
  }),
  bind(routes.testAccountWebhook, async ({ caller: { userId } }) => {
    const { event_id } = addEvent(state, userId, { status: 'delivered', attempts: 1, next_attempt_at: null });
    return { status: 202, body: { status: 'queued', event_id } };
  }),
  bind(routes.listAccountEvents, async ({ caller: { userId } }) => {
    const data = (state.events.get(userId) ?? []).map((event) => ({ ...event, event: 'account.test' as const }));
    return { status: 200, body: { data, has_more: false, generation: 1 } };
  }),
];

const requireOwner = (state: MockState, userId: string, clientId: string): void => {
  const isOwner = possessionsOf(state, userId).apps.some((app) => app.client_id === clientId);
  if (!isOwner) throw new AppError('not_found');
};

const configurationBindings = (state: MockState): Binding[] => [
  bind(routes.getAppAnalytics, async ({ params, query, caller }) => {
    requireOwner(state, caller.userId, params.client_id);
    const days: string[] = [];
    for (let at = Date.parse(query.from ?? ''); at <= Date.parse(query.to ?? ''); at += DAY_MS) {
      days.push(new Date(at).toISOString().slice(0, 10));
    }
    const data = days.map((day, index) => ({
      day,
      connections: index % 5 === 0 ? 1 : 0,
      requests: 10 + (index % 7),
      errors: index % 4,
      deliveries: 2,
      deliveries_failed: index % 2,
    }));
    return { status: 200, body: { data } };
  }),
  bind(routes.configureWebhook, async ({ params, body, caller }) => {
    const { client_id } = params;
    requireOwner(state, caller.userId, client_id);
    if (!body.url.startsWith('https://')) {
      throw invalidField(['body', 'url'], 'value_error', 'Value error, the URL must begin with https://');
    }
    const configuration = {
      client_id,
      url: body.url,
      generation: (state.webhooks.get(client_id)?.generation ?? 0) + 1,
      created_at: new Date().toISOString(),
      state: 'ok' as const,
      blocked_by_event_id: null,
      paused_at: null,
    };
    state.webhooks.set(client_id, configuration);
    const signingSecret = `whsec_${randomBytes(32).toString('base64')}`;
    return { status: 200, body: { ...configuration, signing_secret: signingSecret } };
  }),
  bind(routes.getWebhookConfiguration, async ({ params, caller }) => {
    requireOwner(state, caller.userId, params.client_id);
    const configuration = state.webhooks.get(params.client_id);
    if (configuration === undefined) throw new AppError('not_found');
    return { status: 200, body: configuration };
  }),
  bind(routes.rotateWebhookSecret, async ({ params, body, caller }) => {
    requireOwner(state, caller.userId, params.client_id);
    if (!state.webhooks.has(params.client_id)) throw new AppError('webhook_not_configured');
    const until = new Date(Date.now() + (body?.overlap_seconds ?? 0) * 1000).toISOString();
    const signingSecret = `whsec_${randomBytes(32).toString('base64')}`;
    return { status: 200, body: { signing_secret: signingSecret, previous_expires_at: until } };
  }),
];

/** Stores an event as the newest one of an app. */
export const addEvent = (state: MockState, clientId: string, fields: Partial<WebhookEvent>): WebhookEvent => {
  const events = state.events.get(clientId) ?? [];
  const event: WebhookEvent = {
    event_id: newId('evt'),
    event: 'integration.test',
    sequence: events.length + 1,
    generation: 1,
    status: 'queued',
    attempts: 0,
    created: Math.floor(Date.now() / 1000),
    next_attempt_at: new Date(Date.now() + 5_000).toISOString(),
    delivered_at: null,
    last_attempt: null,
    attempt_log: fields.last_attempt == null ? [] : [fields.last_attempt],
    payload: '{"event":"integration.test","data":{"message":"Hello"}}',
    ...fields,
  };
  state.events.set(clientId, [event, ...events]);
  return event;
};

const findEvent = (state: MockState, ids: { client_id: string; event_id: string }): WebhookEvent => {
  const event = state.events.get(ids.client_id)?.find(({ event_id }) => event_id === ids.event_id);
  if (event === undefined) throw new AppError('not_found');
  return event;
};

const eventBindings = (state: MockState): Binding[] => [
  bind(routes.testWebhook, async ({ params, caller }) => {
    requireOwner(state, caller.userId, params.client_id);
    if (!state.webhooks.has(params.client_id)) throw new AppError('webhook_not_configured');
    const { event_id } = addEvent(state, params.client_id, {});
    return { status: 202, body: { status: 'queued', event_id } };
  }),
  bind(routes.listWebhookEvents, async ({ params, query, caller }) => {
    requireOwner(state, caller.userId, params.client_id);
    const stored = state.events.get(params.client_id) ?? [];
    const events = stored.filter(({ status }) => query.status === undefined || status === query.status);
    const start = query.after === undefined ? 0 : events.findIndex((event) => event.event_id === query.after) + 1;
    const page = events.slice(start, start + query.limit);
    const { generation = null } = state.webhooks.get(params.client_id) ?? {};
    return { status: 200, body: { data: page, has_more: start + page.length < events.length, generation } };
  }),
  bind(routes.getWebhookEvent, async ({ params, caller }) => {
    requireOwner(state, caller.userId, params.client_id);
    return { status: 200, body: findEvent(state, params) };
  }),
  bind(routes.deliverWebhookEventNow, async ({ params, caller }) => {
    requireOwner(state, caller.userId, params.client_id);
    const event = findEvent(state, params);
    if (event.status !== 'queued') throw new AppError('event_not_queued');
    Object.assign(event, { status: 'delivered', attempts: 1, next_attempt_at: null });
    return { status: 202, body: event };
  }),
  bind(routes.recoverWebhookEvent, async ({ params, body, caller }) => {
    requireOwner(state, caller.userId, params.client_id);
    const event = findEvent(state, params);
    if (event.status !== 'failed') throw new AppError('event_not_failed');
    const isRetry = body.action === 'retry';
    event.status = isRetry ? 'queued' : 'skipped';
    event.next_attempt_at = isRetry ? new Date().toISOString() : null;
    const configuration = state.webhooks.get(params.client_id);
    if (configuration !== undefined) Object.assign(configuration, { state: 'ok', blocked_by_event_id: null });
    return { status: 200, body: event };
  }),
];
