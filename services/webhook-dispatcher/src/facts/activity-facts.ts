import { events } from '@svc/contracts';
import { type Consumer, startConsumer } from '@svc/messaging';
import { addActivity } from '../analytics/index.ts';
import type { FactDeps } from './fact-deps.ts';

/** Consumes the gateway's counts of requests, and sums them up by app and day. */
export const startActivityConsumer = ({ messaging, database }: Pick<FactDeps, 'messaging' | 'database'>): Consumer =>
  startConsumer({
    messaging,
    database,
    name: 'webhook-dispatcher_activity',
    subjects: [events.appActivity.subject],
    handle: (trx, { data }) =>
      addActivity(
        trx,
        data.counts.map(({ client_id: clientId, ...count }) => ({ clientId, ...count })),
      ),
  });
