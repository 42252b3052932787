import { randomBytes } from 'node:crypto';
import { newId, routes } from '@svc/contracts';
import { AppError, type Binding, bind } from '@svc/service-kit';
import { type ApiKey, type MockState, possessionsOf } from './state.ts';

/** The routes of the inference gateway that the pages call. */
export const gatewayBindings = (state: MockState): Binding[] => [
  bind(routes.listKeys, async ({ caller }) => ({
    status: 200,
    body: { data: possessionsOf(state, caller.userId).keys },
  })),
  bind(routes.createKey, async ({ body, caller }) => {
    const key = `svc_sk_${randomBytes(24).toString('base64url')}`;
    const record: ApiKey = {
      id: newId('key'),
      name: body.name,
      prefix: key.slice(0, 12),
      expires_at: body.expires_at ?? null,
      requests_per_minute: body.requests_per_minute ?? null,
      tokens_per_minute: body.tokens_per_minute ?? null,
      monthly_limit_micros: body.monthly_limit_micros ?? null,
      models: body.models ?? null,
      active: body.active ?? true,
      spent_this_month_micros: 0,
      previous_expires_at: null,
      created_at: new Date().toISOString(),
      last_used_at: null,
    };
    possessionsOf(state, caller.userId).keys.unshift(record);
    return { status: 201, body: { ...record, key } };
  }),
  bind(routes.deleteKey, async ({ params, caller }) => {
    const owned = possessionsOf(state, caller.userId);
    if (!owned.keys.some(({ id }) => id === params.key_id)) throw new AppError('not_found');
    owned.keys = owned.keys.filter(({ id }) => id !== params.key_id);
    return { status: 204 };
  }),
  bind(routes.listGatewayUsage, async ({ query, caller }) => {
    const matching = possessionsOf(state, caller.userId).usage.filter(
      (record) =>
        (query.key_id === undefined || record.key_id === query.key_id) &&
        (query.from === undefined || record.started_at >= query.from),
    );
    const start = query.after === undefined ? 0 : matching.findIndex((record) => record.request_id === query.after) + 1;
    const page = matching.slice(start, start + query.limit);
    return { status: 200, body: { data: page, has_more: start + page.length < matching.length } };
  }),
];
