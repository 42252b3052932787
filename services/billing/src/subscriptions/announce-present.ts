import { isConnectionFailure } from '@svc/database';
import { withOutbox } from '@svc/messaging';
import type { Logger } from '@svc/service-kit';
import type { Knex } from 'knex';
import { reasonOf } from '../jobs/index.ts';
import {
  findCurrentSubscription,
  listUnannouncedCustomers,
  lockCustomer,
  nextRevision,
  updateCustomer,
  upsertSubscription,
} from './queries.ts';
import { publishState, type StoreDeps } from './store-state.ts';

export interface AnnounceDeps extends StoreDeps {
  readonly database: Knex;
  readonly relay: { hint: () => void };
  readonly logger: Logger;
}

const BATCH = 200;
/** Listed failures. So many have a common cause. */
const FAILED_MAX = 1_000;

/** Customers that were announced, and those that could not be. */
export interface Announced {
  readonly announced: number;
  readonly failed: readonly { readonly object: string; readonly reason: string }[];
}

/**
 * Publishes the current subscription of every customer once per epoch, with a revision above any that receivers saw
 * before the restore. Skips customers whose subscription has changed in the epoch, because that change was published
 * with such a revision. One that fails is listed, and the others go on.
 */
export const announcePresent = async (deps: AnnounceDeps, epoch: string): Promise<Announced> => {
  let announced = 0;
  const failed: { object: string; reason: string }[] = [];
  for (let after = ''; ; ) {
    const userIds = await listUnannouncedCustomers(deps.database, { epoch, after, limit: BATCH });
    for (const userId of userIds) {
      try {
        if (await withOutbox(deps, (trx) => announceCustomer(deps, trx, userId))) announced += 1;
      } catch (error) {
        if (isConnectionFailure(error)) throw error;
        deps.logger.error({ user_id: userId, err: error }, 'could not announce the present state of a customer');
        if (failed.length < FAILED_MAX) failed.push({ object: userId, reason: reasonOf(error) });
      }
    }
    const last = userIds.at(-1);
    if (last === undefined) return { announced, failed };
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
