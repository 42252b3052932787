import { internalRoutes } from '@svc/contracts';
import { listActs, pruneActs, recordAct } from '@svc/database';
import { type Act, type Binding, bind, type Logger, type PeriodicWork, runPeriodically } from '@svc/service-kit';
import type { Knex } from 'knex';

const INTERVAL_MS = 3_600_000;
const BATCH = 1_000;

/** Records an act on the webhook of an app or account, in the transaction of the act. */
export const recordWebhookAct = (trx: Knex.Transaction, act: Act, ownerId: string): Promise<void> =>
  recordAct(trx, act, { type: 'webhook', id: ownerId, name: null });

/** Binds the internal route on which auth reads the acts of an organization. */
export const auditLogRoutes = ({ database }: { readonly database: Knex }): Binding[] => [
  bind(internalRoutes.listWebhookActs, async ({ params, query }) => ({
    status: 200,
    body: { data: await listActs(database, params.svc_user_id, query) },
  })),
];

/** Deletes acts that were kept for their time: now and every hour. Replicas may do so at the same time. */
export const startActPruning = ({ database, logger }: { database: Knex; logger: Logger }): PeriodicWork =>
  runPeriodically({
    name: 'audit log pruning',
    intervalMs: INTERVAL_MS,
    run: async (signal) => {
      while (!signal.aborted && (await pruneActs(database, BATCH)) === BATCH);
    },
    logger,
  });
