import { routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { AuthClient } from '../auth-client.ts';
import { listEvents } from './list-events.ts';
import { queueTestEvent } from './queue-test-event.ts';
import { recoverEvent } from './recover-event.ts';
import type { LocalWorker, StoreDeps } from './store-events.ts';

export interface EventRoutesDeps extends StoreDeps {
  readonly database: Knex;
  readonly auth: AuthClient;
  readonly worker: LocalWorker;
}

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
      const page = await listEvents(database, { clientId, limit: query.limit, after: query.after });
      return { status: 200, body: page };
    }),
    bind(routes.recoverWebhookEvent, async ({ params, body, caller, requestId, signal }) => {
      const { client_id: clientId, event_id: eventId } = params;
      await auth.requireOwner({ clientId, userId: caller.userId, requestId, signal });
      const record = await recoverEvent(database, { clientId, eventId, action: body.action });
      worker.hint();
      return { status: 200, body: record };
    }),
  ];
};
