import { routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { AuthClient } from '../auth-client.ts';
import { toWireRecord } from './event.ts';
import { listEvents } from './list-events.ts';
import type { LocalWorker } from './local-worker.ts';
import { queueTestEvent } from './queue-test-event.ts';
import { recoverEvent } from './recover-event.ts';
import type { StoreDeps } from './store-events.ts';

/** What the routes need. */
export interface EventRoutesDeps extends StoreDeps {
  readonly database: Knex;
  readonly auth: AuthClient;
  readonly worker: LocalWorker;
}

/** Binds the routes of events. */
export const eventRoutes = (deps: EventRoutesDeps): Binding[] => {
  const { database, auth, worker } = deps;
  return [
    bind(routes.testWebhook, async ({ params, caller, requestId, signal }) => {
      const clientId = params.client_id;
      await auth.requireOwner({ clientId, userId: caller.userId, requestId, signal });
      const eventId = await queueTestEvent(database, { clientId, ownerId: caller.userId }, deps);
      return { status: 202, body: { status: 'queued', event_id: eventId } };
    }),
    bind(routes.listWebhookEvents, async ({ params, query, caller, requestId, signal }) => {
      const clientId = params.client_id;
      await auth.requireOwner({ clientId, userId: caller.userId, requestId, signal });
      const { records, hasMore } = await listEvents(database, { clientId, limit: query.limit, after: query.after });
      return { status: 200, body: { data: records.map(toWireRecord), has_more: hasMore } };
    }),
    bind(routes.recoverWebhookEvent, async ({ params, body, caller, requestId, signal }) => {
      const { client_id: clientId, event_id: eventId } = params;
      await auth.requireOwner({ clientId, userId: caller.userId, requestId, signal });
      const record = await recoverEvent(database, { clientId, eventId, action: body.action });
      worker.hint();
      return { status: 200, body: toWireRecord(record) };
    }),
  ];
};
