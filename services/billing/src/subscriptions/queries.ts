import { recordColumns } from '@svc/database';
import type { Knex } from 'knex';
import { whereDue } from '../jobs.ts';
import type { StoredSubscription } from './subscription.ts';

const COLUMNS = recordColumns<StoredSubscription>({
  id: 'id text',
  userId: 'svc_user_id text',
  providerSubscriptionId: 'provider_subscription_id text',
  paidBy: 'paid_by text',
  providerTicket: 'provider_ticket bigint',
  status: 'status text',
  planId: 'plan_id text',
  anchor: 'anchor timestamptz',
  periodStart: 'current_period_start timestamptz',
  periodEnd: 'current_period_end timestamptz',
  cancelAtPeriodEnd: 'cancel_at_period_end boolean',
  pastDueSince: 'past_due_since timestamptz',
  endedAt: 'ended_at timestamptz',
  revision: 'revision integer',
});
const ENDED = ['canceled', 'unpaid', 'incomplete_expired'];

/** Exceeds the number of revisions that a restore of the database can lose. */
const REVISIONS_PER_EPOCH = 1_000_000;

/** Row of an account that every change of its subscriptions locks first. */
export interface Customer {
  readonly userId: string;
  readonly revision: number;
  readonly currentSubscriptionId: string | null;
  /** False until the state is published in the epoch that a restore has begun. */
  readonly isAnnounced: boolean;
}

/** Returns the revision of the next published state. The first of an epoch exceeds all that a restore may have lost. */
export const nextRevision = ({ revision, isAnnounced }: Customer): number =>
  revision + (isAnnounced ? 1 : REVISIONS_PER_EPOCH);

/** Returns a number that grows with each call. Take it before calling Stripe, to order its answers. */
export const nextProviderTicket = async (database: Knex): Promise<number> => {
  const { rows } = await database.raw<{ rows: { ticket: number }[] }>("SELECT nextval('provider_tickets') AS ticket");
  const [row] = rows;
  if (row === undefined) throw new Error('the sequence of tickets returned no row');
  return row.ticket;
};

/**
 * Locks an account's customer row until the transaction ends. Creates the row at the first purchase. The first statement
 * reads `epochs`, so no epoch begins before the transaction ends (`beginEpoch`).
 */
export const lockCustomer = async (trx: Knex.Transaction, userId: string): Promise<Customer> => {
  await trx('customers')
    .insert({
      svc_user_id: userId,
      created_at: trx.raw('billing_now()'),
      // A restore may have lost an earlier row of the account, whose revisions receivers have seen.
      revision: trx.raw('(SELECT (count(*) - 1) * ? FROM epochs)', [REVISIONS_PER_EPOCH]),
    })
    .onConflict('svc_user_id')
    .ignore();
  const row = await trx('customers')
    .where({ svc_user_id: userId })
    .forUpdate()
    .first('revision', 'current_subscription_id', trx.raw('announced_epoch = current_epoch() AS is_announced'));
  const { revision, current_subscription_id: currentSubscriptionId, is_announced: isAnnounced } = row;
  return { userId, revision, currentSubscriptionId, isAnnounced };
};

/** Returns true if the account has ever bought anything. */
export const isCustomer = async (database: Knex, userId: string): Promise<boolean> =>
  (await database('customers').where({ svc_user_id: userId }).first('svc_user_id')) !== undefined;

/** Stores the account's current subscription, its newest revision, and if it is announced in the current epoch. */
export const updateCustomer = async (trx: Knex.Transaction, customer: Customer): Promise<void> => {
  const { userId, revision, currentSubscriptionId, isAnnounced } = customer;
  await trx('customers')
    .where({ svc_user_id: userId })
    .update({
      revision,
      current_subscription_id: currentSubscriptionId,
      ...(isAnnounced ? { announced_epoch: trx.raw('current_epoch()') } : {}),
    });
};

/** Lists customers whose state was not announced in the epoch, ordered by id, starting after the given id. */
export const listUnannouncedCustomers = async (
  database: Knex,
  { epoch, after, limit }: { readonly epoch: string; readonly after: string; readonly limit: number },
): Promise<string[]> =>
  await database('customers')
    .where('svc_user_id', '>', after)
    .whereNot({ announced_epoch: epoch })
    .orderBy('svc_user_id')
    .limit(limit)
    .pluck('svc_user_id');

/** Counts the customers whose present state a new epoch would announce. */
export const countCustomers = async (database: Knex): Promise<number> => {
  const row = await database('customers').first(database.raw('count(*)::int AS count'));
  return row?.count ?? 0;
};

/** Reads the database's clock. */
export const readNow = async (database: Knex): Promise<Date> => {
  const { rows } = await database.raw<{ rows: { now: Date }[] }>('SELECT billing_now() AS now');
  const [row] = rows;
  if (row === undefined) throw new Error('the clock returned no row');
  return row.now;
};

const selectSubscriptions = (database: Knex) =>
  database('subscriptions').select<StoredSubscription[]>(database.raw(COLUMNS.select('subscriptions')));

const selectCurrent = (database: Knex) =>
  selectSubscriptions(database).join('customers', 'customers.current_subscription_id', 'subscriptions.id');

/** Finds the account's current subscription: the live one, or else the last one. */
export const findCurrentSubscription = async (
  database: Knex,
  userId: string,
): Promise<StoredSubscription | undefined> =>
  await selectCurrent(database).where({ 'customers.svc_user_id': userId }).first();

/** Lists the current subscriptions of accounts. Omits accounts without one. */
export const listCurrentSubscriptions = async (
  database: Knex,
  userIds: readonly string[],
): Promise<StoredSubscription[]> => await selectCurrent(database).whereIn('customers.svc_user_id', userIds);

export const findSubscriptionById = async (database: Knex, id: string): Promise<StoredSubscription | undefined> =>
  await selectSubscriptions(database).where({ id }).first();

export const findSubscriptionByProvider = async (
  database: Knex,
  providerSubscriptionId: string,
): Promise<StoredSubscription | undefined> =>
  await selectSubscriptions(database).where({ provider_subscription_id: providerSubscriptionId }).first();

/** Finds the live subscription of an account. The database allows only one. */
export const findLiveSubscription = async (database: Knex, userId: string): Promise<StoredSubscription | undefined> =>
  await selectSubscriptions(database).where({ svc_user_id: userId }).whereNotIn('status', ENDED).first();

/**
 * Lists live subscriptions whose period has ended and that have not been updated for an hour, but for those
 * whose refresh waits after a failure.
 */
export const listSilentSubscriptions = async (database: Knex, limit: number): Promise<string[]> =>
  await whereDue(
    database('subscriptions')
      .whereNotIn('status', ENDED)
      .whereNotNull('provider_subscription_id')
      .whereRaw(
        "current_period_end < (SELECT billing_now()) - interval '1 hour' AND updated_at < (SELECT billing_now()) - interval '1 hour'",
      ),
    'subscriptions',
    'subscriptions.provider_subscription_id',
  )
    .orderBy('updated_at')
    .limit(limit)
    .pluck('provider_subscription_id');

/** Lists all live subscriptions by their id at Stripe, which `after` precedes. */
export const listLiveSubscriptions = async (
  database: Knex,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<string[]> =>
  await database('subscriptions')
    .whereNotIn('status', ENDED)
    .where('provider_subscription_id', '>', after)
    .orderBy('provider_subscription_id')
    .limit(limit)
    .pluck('provider_subscription_id');

/** Inserts or updates a subscription. Its owner and its id at Stripe never change. */
export const upsertSubscription = async (trx: Knex.Transaction, subscription: StoredSubscription): Promise<void> => {
  const now = trx.raw('billing_now()');
  const { id, svc_user_id, provider_subscription_id, ...changing } = COLUMNS.toRow(subscription);
  await trx('subscriptions')
    .insert({ ...COLUMNS.toRow(subscription), created_at: now, updated_at: now })
    .onConflict('id')
    .merge([...Object.keys(changing), 'updated_at']);
};
