import { events } from '@svc/contracts';
import { type Consumer, startConsumer } from '@svc/messaging';
import { AppError } from '@svc/service-kit';
import { deleteEndedConnectionsOfUser, lockUsers } from '../connections.ts';
import { endLane } from '../ended-lanes.ts';
import type { FactDeps } from './fact-deps.ts';

/** Starts the consumer that ends the webhooks of erased accounts, and forgets their connections once the apps know their ends. */
export const startErasureConsumer = ({ messaging, database }: FactDeps): Consumer =>
  startConsumer({
    messaging,
    database,
    name: 'webhook-dispatcher_erasures',
    subjects: [events.accountErased.subject],
    handle: async (trx, { data }) => {
      await lockUsers(trx, [data.svc_user_id]);
      await endLane(trx, data.svc_user_id);
      // Another consumer ends the connections, and may be behind.
      if ((await deleteEndedConnectionsOfUser(trx, data.svc_user_id)) > 0) throw new AppError('service_unavailable');
    },
  });
