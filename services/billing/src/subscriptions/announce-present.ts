import { withOutbox } from '@svc/messaging';
import type { Knex } from 'knex';
import { publishState, type ReducerDeps } from './apply-provider-state.ts';
import {
  findCurrentSubscription,
  listUnannouncedCustomers,
  lockCustomer,
  REVISIONS_PER_EPOCH,
  updateCustomer,
  updateCustomerAnnounced,
  upsertSubscription,
} from './queries.ts';

export interface AnnounceDeps extends Pick<ReducerDeps, 'pastDueGraceDays'> {
  readonly database: Knex;
  readonly relay: { hint(): void };
}

const BATCH = 200;

/**
 * Publishes the current subscription of every customer once per epoch, with a revision above any that receivers saw
 * before the restore. Returns the number of customers.
 */
export const announcePresent = async (deps: AnnounceDeps, epoch: string): Promise<number> => {
  let announced = 0;
  for (let after = ''; ; ) {
    const userIds = await listUnannouncedCustomers(deps.database, { epoch, after, limit: BATCH });
    for (const userId of userIds) {
      await withOutbox(deps, (trx) => announceCustomer(deps, trx, { userId, epoch }));
      announced += 1;
    }
    const last = userIds.at(-1);
    if (last === undefined) return announced;
    after = last;
  }
};

const announceCustomer = async (
  deps: AnnounceDeps,
  trx: Knex.Transaction,
  { userId, epoch }: { readonly userId: string; readonly epoch: string },
): Promise<void> => {
  const customer = await lockCustomer(trx, userId);
  const current = await findCurrentSubscription(trx, userId);
  const revision = customer.revision + REVISIONS_PER_EPOCH;
  await updateCustomer(trx, { ...customer, revision });
  await updateCustomerAnnounced(trx, userId, epoch);
  if (current === undefined) return;
  const subscription = { ...current, revision };
  await upsertSubscription(trx, subscription);
  await publishState(deps, trx, subscription);
};
