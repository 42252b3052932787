import {
  type AccountEvent,
  type listAccountEventsQuerySchema,
  type listWebhookEventsQuerySchema,
  type OwnWebhookEvent,
  routes,
  type WebhookEvent,
} from '@svc/contracts';
import { type Act, type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { z } from 'zod';
import type { AuthClient } from '../auth-client.ts';
import { deliverNow } from './deliver-now.ts';
import type { EventName } from './event.ts';
import { getEvent } from './get-event.ts';
import { listEvents } from './list-events.ts';
import { listEventBodies } from './queries.ts';
import { queueTestEvent } from './queue-test-event.ts';
import { recoverEvent } from './recover-event.ts';
import type { LocalWorker, StoreDeps } from './store-events.ts';

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
