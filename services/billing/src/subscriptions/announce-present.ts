import { isConnectionFailure } from '@svc/database';
import { withOutbox } from '@svc/messaging';
import type { Logger } from '@svc/service-kit';
import type { Knex } from 'knex';
import { reasonOf } from '../jobs.ts';
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
/** Customers at a time: each waits for a commit, and many share one write to disk. */
const AT_ONCE = 8;
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
  const told = { announced: 0, failed: [] as { object: string; reason: string }[] };
  const announce = async (userId: string): Promise<void> => {
    try {
      if (await withOutbox(deps, (trx) => announceCustomer(deps, trx, userId))) told.announced += 1;
    } catch (error) {
      if (isConnectionFailure(error)) throw error;
      deps.logger.error({ user_id: userId, err: error }, 'could not announce the present state of a customer');
      if (told.failed.length < FAILED_MAX) told.failed.push({ object: userId, reason: reasonOf(error) });
    }
  };
  for (let after = ''; ; ) {
    const userIds = await listUnannouncedCustomers(deps.database, { epoch, after, limit: BATCH });
    for (let from = 0; from < userIds.length; from += AT_ONCE) {
      await Promise.all(userIds.slice(from, from + AT_ONCE).map(announce));
    }
    const last = userIds.at(-1);
    if (last === undefined) return told;
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
