import type { Knex } from 'knex';
import type { ProviderName, StoredSubscription } from './subscription.ts';

const ENDED = ['canceled', 'unpaid', 'incomplete_expired'];

/** Exceeds the number of revisions that a restore of the database can lose. */
export const REVISIONS_PER_EPOCH = 1_000_000;

/** Row of an account that every change of its subscriptions locks first. */
export interface Customer {
  readonly userId: string;
  readonly revision: number;
  readonly currentSubscriptionId: string | null;
}

/** Returns a number that grows with each call. Take it before calling a provider, to order the provider's answers. */
export const nextProviderTicket = async (database: Knex): Promise<number> => {
  const { rows } = await database.raw<{ rows: { ticket: number }[] }>("SELECT nextval('provider_tickets') AS ticket");
  const [row] = rows;
  if (row === undefined) throw new Error('the sequence of tickets returned no row');
  return row.ticket;
};

/** Locks an account's customer row until the transaction ends. Creates the row at the first purchase. */
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
  const row = await trx('customers').where({ svc_user_id: userId }).forUpdate().first();
  return { userId, revision: row.revision, currentSubscriptionId: row.current_subscription_id };
};

/** Returns true if the account has ever bought anything. */
export const isCustomer = async (database: Knex, userId: string): Promise<boolean> => {
  return (await database('customers').where({ svc_user_id: userId }).first('svc_user_id')) !== undefined;
};

/** Stores the account's current subscription and its newest revision. */
export const updateCustomer = async (trx: Knex.Transaction, customer: Customer): Promise<void> => {
  const { userId, revision, currentSubscriptionId } = customer;
  await trx('customers')
    .where({ svc_user_id: userId })
    .update({ revision, current_subscription_id: currentSubscriptionId });
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

/** Records that the customer's state was announced in the epoch. */
export const updateCustomerAnnounced = async (trx: Knex.Transaction, userId: string, epoch: string): Promise<void> => {
  await trx('customers').where({ svc_user_id: userId }).update({ announced_epoch: epoch });
};

/** Reads the database's clock. */
export const readNow = async (database: Knex): Promise<Date> => {
  const { rows } = await database.raw<{ rows: { now: Date }[] }>('SELECT billing_now() AS now');
  const [row] = rows;
  if (row === undefined) throw new Error('the clock returned no row');
  return row.now;
};

/** Finds the account's current subscription: the live one, or else the last one. */
export const findCurrentSubscription = async (
  database: Knex,
  userId: string,
): Promise<StoredSubscription | undefined> => {
  const row = await database('subscriptions')
    .join('customers', 'customers.current_subscription_id', 'subscriptions.id')
    .where({ 'customers.svc_user_id': userId })
    .first('subscriptions.*');
  return row === undefined ? undefined : toSubscription(row);
};

/** Lists the current subscriptions of accounts. Omits accounts without one. */
export const listCurrentSubscriptions = async (
  database: Knex,
  userIds: readonly string[],
): Promise<StoredSubscription[]> => {
  const rows: SubscriptionRow[] = await database('subscriptions')
    .join('customers', 'customers.current_subscription_id', 'subscriptions.id')
    .whereIn('customers.svc_user_id', userIds)
    .select('subscriptions.*');
  return rows.map(toSubscription);
};

export const findSubscriptionById = async (database: Knex, id: string): Promise<StoredSubscription | undefined> => {
  const row: SubscriptionRow | undefined = await database('subscriptions').where({ id }).first();
  return row === undefined ? undefined : toSubscription(row);
};

export const findSubscriptionByProvider = async (
  database: Knex,
  provider: ProviderName,
  providerSubscriptionId: string,
): Promise<StoredSubscription | undefined> => {
  const row: SubscriptionRow | undefined = await database('subscriptions')
    .where({ provider, provider_subscription_id: providerSubscriptionId })
    .first();
  return row === undefined ? undefined : toSubscription(row);
};

/** Finds the live subscription of an account. The database allows only one. */
export const findLiveSubscription = async (database: Knex, userId: string): Promise<StoredSubscription | undefined> => {
  const row: SubscriptionRow | undefined = await database('subscriptions')
    .where({ svc_user_id: userId })
    .whereNotIn('status', ENDED)
    .first();
  return row === undefined ? undefined : toSubscription(row);
};

/** Lists live subscriptions of a provider whose period has ended and that have not been updated for an hour. */
export const listSilentSubscriptions = async (
  database: Knex,
  provider: ProviderName,
  limit: number,
): Promise<string[]> => {
  return await database('subscriptions')
    .where({ provider })
    .whereNotIn('status', ENDED)
    .whereRaw(
      "current_period_end < billing_now() - interval '1 hour' AND updated_at < billing_now() - interval '1 hour'",
    )
    .orderBy('updated_at')
    .limit(limit)
    .pluck('provider_subscription_id');
};

/** Inserts or updates a subscription. */
export const upsertSubscription = async (trx: Knex.Transaction, subscription: StoredSubscription): Promise<void> => {
  const changing = {
    provider_ticket: subscription.providerTicket,
    status: subscription.status,
    plan_id: subscription.planId,
    anchor: subscription.anchor,
    current_period_start: subscription.periodStart,
    current_period_end: subscription.periodEnd,
    cancel_at_period_end: subscription.cancelAtPeriodEnd,
    past_due_since: subscription.pastDueSince,
    ended_at: subscription.endedAt,
    revision: subscription.revision,
    updated_at: trx.raw('billing_now()'),
  };
  await trx('subscriptions')
    .insert({
      id: subscription.id,
      svc_user_id: subscription.userId,
      provider: subscription.provider,
      provider_subscription_id: subscription.providerSubscriptionId,
      created_at: trx.raw('billing_now()'),
      ...changing,
    })
    .onConflict('id')
    .merge(Object.keys(changing));
};

interface SubscriptionRow {
  id: string;
  svc_user_id: string;
  provider: ProviderName;
  provider_subscription_id: string;
  provider_ticket: number;
  status: StoredSubscription['status'];
  plan_id: string;
  anchor: Date;
  current_period_start: Date;
  current_period_end: Date;
  cancel_at_period_end: boolean;
  past_due_since: Date | null;
  ended_at: Date | null;
  revision: number;
}

const toSubscription = (row: SubscriptionRow): StoredSubscription => {
  return {
    id: row.id,
    userId: row.svc_user_id,
    provider: row.provider,
    providerSubscriptionId: row.provider_subscription_id,
    providerTicket: row.provider_ticket,
    status: row.status,
    planId: row.plan_id,
    anchor: row.anchor,
    periodStart: row.current_period_start,
    periodEnd: row.current_period_end,
    cancelAtPeriodEnd: row.cancel_at_period_end,
    pastDueSince: row.past_due_since,
    endedAt: row.ended_at,
    revision: row.revision,
  };
};
