import { routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { AuthClient } from '../auth-client.ts';
import { deliverNow } from './deliver-now.ts';
import { getEvent } from './get-event.ts';
import { listEvents } from './list-events.ts';
import { listOwnEvents } from './list-own-events.ts';
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
      const { limit, after, status, event, after_sequence: aboveSequence, before_sequence: belowSequence } = query;
      const page = await listEvents(database, { clientId, limit, after, status, event, aboveSequence, belowSequence });
      return { status: 200, body: page };
    }),
    bind(routes.getWebhookEvent, async ({ params, caller, requestId, signal }) => {
      const { client_id: clientId, event_id: eventId } = params;
      await auth.requireOwner({ clientId, userId: caller.userId, requestId, signal });
      return { status: 200, body: await getEvent(database, { clientId, eventId }) };
    }),
    bind(routes.deliverWebhookEventNow, async ({ params, caller, requestId, signal }) => {
      const { client_id: clientId, event_id: eventId } = params;
      await auth.requireOwner({ clientId, userId: caller.userId, requestId, signal });
      const record = await deliverNow(database, { clientId, eventId });
      worker.hint();
      return { status: 202, body: record };
    }),
    bind(routes.listOwnWebhookEvents, async ({ query, caller }) => {
      const { after_sequence: afterSequence, limit } = query;
      const page = await listOwnEvents(database, { clientId: caller.clientId, afterSequence, limit });
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
