import { withOutbox } from '@svc/messaging';
import type { Knex } from 'knex';
import { publishState, type ReducerDeps } from './apply-provider-state.ts';
import {
  findCurrentSubscription,
  listUnannouncedCustomers,
  lockCustomer,
  nextRevision,
  updateCustomer,
  upsertSubscription,
} from './queries.ts';

export interface AnnounceDeps extends Pick<ReducerDeps, 'pastDueGraceDays'> {
  readonly database: Knex;
  readonly relay: { hint: () => void };
}

const BATCH = 200;

/**
 * Publishes the current subscription of every customer once per epoch, with a revision above any that receivers saw
 * before the restore. Skips customers whose subscription has changed in the epoch, because that change was published
 * with such a revision. Returns the number of customers.
 */
export const announcePresent = async (deps: AnnounceDeps, epoch: string): Promise<number> => {
  let announced = 0;
  for (let after = ''; ; ) {
    const userIds = await listUnannouncedCustomers(deps.database, { epoch, after, limit: BATCH });
    for (const userId of userIds) {
      if (await withOutbox(deps, (trx) => announceCustomer(deps, trx, userId))) announced += 1;
    }
    const last = userIds.at(-1);
    if (last === undefined) return announced;
    after = last;
  }
};

const announceCustomer = async (deps: AnnounceDeps, trx: Knex.Transaction, userId: string): Promise<boolean> => {
  const customer = await lockCustomer(trx, userId);
  if (customer.isAnnounced) return false;
  const current = await findCurrentSubscription(trx, userId);
  const revision = nextRevision(customer);
  await updateCustomer(trx, { ...customer, revision, isAnnounced: true });
  if (current === undefined) return true;
  const subscription = { ...current, revision };
  await upsertSubscription(trx, subscription);
  await publishState(deps, trx, subscription);
  return true;
};
