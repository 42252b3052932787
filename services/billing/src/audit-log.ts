import { internalRoutes } from '@svc/contracts';
import { listActs, pruneActs } from '@svc/database';
import { type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';

const BATCH = 1_000;
/** Batches per run, so that it ends. The rest waits for the next run. */
const BATCHES_MAX = 100;

/** Binds the internal route on which auth reads the acts that billing has recorded. */
export const auditRoutes = ({ database }: { readonly database: Knex }): Binding[] => [
  bind(internalRoutes.listBillingActs, async ({ params, query }) => ({
    status: 200,
    body: { data: await listActs(database, params.svc_user_id, query) },
  })),
];

/** Deletes the acts that were kept for their time. */
export const pruneAuditLog = async (database: Knex): Promise<void> => {
  for (let batch = 0; batch < BATCHES_MAX; batch += 1) if ((await pruneActs(database, BATCH)) < BATCH) return;
};
