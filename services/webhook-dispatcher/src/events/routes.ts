import {
  type AccountEvent,
  type listAccountEventsQuerySchema,
  type listWebhookEventsQuerySchema,
  type OwnWebhookEvent,
  routes,
  type WebhookEvent,
  type WebhookEventDetail,
} from '@svc/contracts';
import { type Act, AppError, type Binding, bind, invalidField } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { z } from 'zod';
import { recordWebhookAct } from '../audit-log.ts';
import type { AuthClient } from '../auth-client.ts';
import { type EventName, isAccount } from './event.ts';
import { findGeneration, hastenLane, lockLanes } from './lanes.ts';
import {
  type EventFilter,
  type EventRecord,
  findEventBody,
  findEventState,
  listAttempts,
  listEventBodies,
  listEventRecords,
} from './queries.ts';
import { recoverEvent } from './recover-event.ts';
import { type LocalWorker, type StoreDeps, storeEvents } from './store-events.ts';

interface EventPage<Name extends EventName> {
  readonly data: EventRecord<Name>[];
  readonly has_more: boolean;
  readonly generation: number | null;
}

/** Selection of a page of an owner's events. */
interface EventSelection extends Omit<EventFilter, 'eventId'> {
  /** Id of the last event of the page before. */
  readonly after?: string | undefined;
}

/** Returns a page of the owner's events, newest first, from behind the event `after`. Throws a 422 fault if there is no such event. */
const listEvents = async <Name extends EventName>(
  database: Knex,
  { after, ...filter }: EventSelection,
): Promise<EventPage<Name>> => {
  const { ownerId, limit, belowSequence = Number.MAX_SAFE_INTEGER } = filter;
  const last = after === undefined ? undefined : await findEventState(database, ownerId, after);
  if (after !== undefined && last === undefined) {
    throw invalidField(['query', 'after'], 'value_error', 'Value error, there is no such event');
  }
  const below = Math.min(belowSequence, last?.sequence ?? belowSequence);
  const [records, generation = null] = await Promise.all([
    listEventRecords<Name>(database, { ...filter, belowSequence: below, limit: limit + 1 }),
    findGeneration(database, ownerId),
  ]);
  return { data: records.slice(0, limit), has_more: records.length > limit, generation };
};

const APP_TEST = {
  event: 'integration.test',
  data: { message: 'This is a test event. It was sent because the owner of the app asked for it.' },
} as const;
const ACCOUNT_TEST = { event: 'account.test', data: {} } as const;

/** Events that may wait when a test joins them. Real events have no limit, because none may be lost. */
const WAITING_MAX = 1_000;

/** Queues a test event behind the open ones and returns its id. Throws `webhook_not_configured` or `webhook_queue_full`. */
const queueTestEvent = async (
  database: Knex,
  { ownerId, userId, act }: { ownerId: string; userId: string; act: Act },
  deps: StoreDeps,
): Promise<string> => {
  const draft = { ownerId, userId, factId: null, ...(isAccount(ownerId) ? ACCOUNT_TEST : APP_TEST) };
  return await database.transaction(async (trx) => {
    const [lane] = await lockLanes(trx, [ownerId]);
    if (lane !== undefined && lane.waiting >= WAITING_MAX) throw new AppError('webhook_queue_full');
    const [event] = await storeEvents(trx, [draft], deps);
    if (event === undefined) throw new AppError('webhook_not_configured');
    await recordWebhookAct(trx, act, ownerId);
    return event.eventId;
  });
};

/**
 * Makes the lane of a queued event due at once, so that it follows in its order. An event that is being delivered stays as it
 * is. Throws `not_found` for an event of another owner, and `event_not_queued` for one in another state or behind a failed one.
 */
const deliverNow = async <Name extends EventName>(
  database: Knex,
  { ownerId, eventId, act }: { ownerId: string; eventId: string; act: Act },
): Promise<EventRecord<Name>> =>
  await database.transaction(async (trx) => {
    await lockLanes(trx, [ownerId]);
    const event = await findEventState(trx, ownerId, eventId);
    if (event === undefined) throw new AppError('not_found');
    if (event.status !== 'queued' || !(await hastenLane(trx, ownerId))) throw new AppError('event_not_queued');
    await recordWebhookAct(trx, act, ownerId);
    const [record] = await listEventRecords<Name>(trx, { ownerId, eventId, limit: 1 });
    if (record === undefined) throw new AppError('not_found');
    return record;
  });

/** Returns an event of an owner with its body and every attempt, oldest first. Throws `not_found`. */
const getEvent = async <Name extends EventName>(
  database: Knex,
  { ownerId, eventId }: { ownerId: string; eventId: string },
): Promise<EventRecord<Name> & Pick<WebhookEventDetail, 'payload' | 'attempt_log'>> => {
  const [record] = await listEventRecords<Name>(database, { ownerId, eventId, limit: 1 });
  const body = await findEventBody(database, ownerId, eventId);
  if (record === undefined || body === undefined) throw new AppError('not_found');
  const attempts = await listAttempts(database, ownerId, record.sequence);
  return { ...record, payload: body.toString(), attempt_log: attempts };
};

export interface EventRoutesDeps extends StoreDeps {
  readonly database: Knex;
  readonly auth: AuthClient;
  readonly worker: LocalWorker;
}

/** Binds the routes of an app's events, whose owner auth knows, and of an account's own. */
export const eventRoutes = (deps: EventRoutesDeps): Binding[] => {
  const { database, auth } = deps;
  const app = operationsOn<WebhookEvent['event']>(deps);
  const account = operationsOn<AccountEvent['event']>(deps);
  return [
    bind(routes.testWebhook, async (context) =>
      app.test({ ...(await auth.ownerOf(context)), userId: context.caller.userId, act: context.act }),
    ),
    bind(routes.testAccountWebhook, async ({ act, caller: { userId } }) =>
      account.test({ ownerId: userId, userId, act }),
    ),
    bind(routes.listWebhookEvents, async (context) => app.list(await auth.ownerOf(context), context.query)),
    bind(routes.listAccountEvents, async ({ caller, query }) => account.list({ ownerId: caller.userId }, query)),
    bind(routes.getWebhookEvent, async (context) => app.get(await auth.ownerOf(context), context.params)),
    bind(routes.getAccountEvent, async ({ caller, params }) => account.get({ ownerId: caller.userId }, params)),
    bind(routes.deliverWebhookEventNow, async (context) =>
      app.deliverNow({ ...(await auth.ownerOf(context)), act: context.act }, context.params),
    ),
    bind(routes.deliverAccountEventNow, async ({ act, caller, params }) =>
      account.deliverNow({ ownerId: caller.userId, act }, params),
    ),
    bind(routes.recoverWebhookEvent, async (context) =>
      app.recover({ ...(await auth.ownerOf(context)), act: context.act }, { ...context.params, ...context.body }),
    ),
    bind(routes.recoverAccountEvent, async ({ act, caller, params, body }) =>
      account.recover({ ownerId: caller.userId, act }, { ...params, ...body }),
    ),
    bind(routes.listOwnWebhookEvents, async ({ query, caller }) => {
      const { after_sequence: afterSequence, limit } = query;
      const page = await listOwnEvents(database, { ownerId: caller.clientId, afterSequence, limit });
      return { status: 200, body: page };
    }),
  ];
};

interface LaneOf {
  readonly ownerId: string;
}

/** A change to a lane, for the audit log. */
interface ActOnLane extends LaneOf {
  readonly act: Act;
}

interface EventOfLane {
  readonly event_id: string;
}

/** Answers requests about events, for each kind of owner. */
const operationsOn = <Name extends EventName>({ database, worker, ...deps }: EventRoutesDeps) => ({
  test: async (owner: ActOnLane & { readonly userId: string }) => {
    const eventId = await queueTestEvent(database, owner, { ...deps, worker });
    return { status: 202 as const, body: { status: 'queued' as const, event_id: eventId } };
  },
  list: async (
    { ownerId }: LaneOf,
    query: z.output<typeof listWebhookEventsQuerySchema | typeof listAccountEventsQuerySchema>,
  ) => {
    const { after_sequence: aboveSequence, before_sequence: belowSequence, ...filter } = query;
    const page = await listEvents<Name>(database, { ownerId, aboveSequence, belowSequence, ...filter });
    return { status: 200 as const, body: page };
  },
  get: async ({ ownerId }: LaneOf, { event_id: eventId }: EventOfLane) => ({
    status: 200 as const,
    body: await getEvent<Name>(database, { ownerId, eventId }),
  }),
  deliverNow: async ({ ownerId, act }: ActOnLane, { event_id: eventId }: EventOfLane) => {
    const record = await deliverNow<Name>(database, { ownerId, eventId, act });
    worker.hint();
    return { status: 202 as const, body: record };
  },
  recover: async (
    { ownerId, act }: ActOnLane,
    { event_id: eventId, action }: EventOfLane & { readonly action: 'retry' | 'skip' },
  ) => {
    const record = await recoverEvent<Name>(database, { ownerId, eventId, action, act });
    worker.hint();
    return { status: 200 as const, body: record };
  },
});

/** Returns a page of an app's events for its receiver, ascending by sequence, from behind a sequence. */
const listOwnEvents = async (
  database: Knex,
  { ownerId, afterSequence, limit }: { ownerId: string; afterSequence: number; limit: number },
): Promise<{ data: OwnWebhookEvent[]; has_more: boolean }> => {
  const events = await listEventBodies(database, { ownerId, afterSequence, limit: limit + 1 });
  return { data: events.slice(0, limit), has_more: events.length > limit };
};
