import type { Knex } from 'knex';
import type { ProviderName, StoredSubscription } from './subscription.ts';

const ENDED = ['canceled', 'unpaid', 'incomplete_expired'];

/** More revisions than a subscription can have seen between the moment of a restore and the restore. */
export const REVISIONS_PER_EPOCH = 1_000_000;

/** The row that whatever changes a subscription of an account locks first. */
export interface Customer {
  readonly userId: string;
  readonly revision: number;
  readonly currentSubscriptionId: string | null;
}

/** A number greater than every one before it, taken before a provider is asked. */
export const nextProviderTicket = async (database: Knex): Promise<number> => {
  const { rows } = await database.raw<{ rows: { ticket: number }[] }>("SELECT nextval('provider_tickets') AS ticket");
  const [row] = rows;
  if (row === undefined) throw new Error('a sequence answered nothing');
  return row.ticket;
};

/** Locks an account's customer row until the transaction ends, making it at the first purchase. */
export const lockCustomer = async (trx: Knex.Transaction, userId: string): Promise<Customer> => {
  await trx('customers')
    .insert({
      svc_user_id: userId,
      created_at: trx.raw('billing_now()'),
      // A restore may have lost the account's earlier row, whose revisions receivers have seen.
      revision: trx.raw('(SELECT (count(*) - 1) * ? FROM epochs)', [REVISIONS_PER_EPOCH]),
    })
    .onConflict('svc_user_id')
    .ignore();
  const row = await trx('customers').where({ svc_user_id: userId }).forUpdate().first();
  return { userId, revision: row.revision, currentSubscriptionId: row.current_subscription_id };
};

/** Whether the account has ever bought anything. */
export const isCustomer = async (database: Knex, userId: string): Promise<boolean> => {
  return (await database('customers').where({ svc_user_id: userId }).first('svc_user_id')) !== undefined;
};

/** Notes which subscription is the account's current one, and the newest revision. */
export const updateCustomer = async (trx: Knex.Transaction, customer: Customer): Promise<void> => {
  const { userId, revision, currentSubscriptionId } = customer;
  await trx('customers')
    .where({ svc_user_id: userId })
    .update({ revision, current_subscription_id: currentSubscriptionId });
};

/** Lists customers after this one that were not announced in the epoch, in the order of their ids. */
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

/** Records that the customer was announced in the epoch. */
export const updateCustomerAnnounced = async (trx: Knex.Transaction, userId: string, epoch: string): Promise<void> => {
  await trx('customers').where({ svc_user_id: userId }).update({ announced_epoch: epoch });
};

/** The database's time. */
export const readNow = async (database: Knex): Promise<Date> => {
  const { rows } = await database.raw<{ rows: { now: Date }[] }>('SELECT billing_now() AS now');
  const [row] = rows;
  if (row === undefined) throw new Error('a clock answered nothing');
  return row.now;
};

/** The subscription that stands for the account: the live one, or else the last. */
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

/** The current subscriptions of these accounts; those without one are missing. */
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

/** A subscription by our id. */
export const findSubscriptionById = async (database: Knex, id: string): Promise<StoredSubscription | undefined> => {
  const row: SubscriptionRow | undefined = await database('subscriptions').where({ id }).first();
  return row === undefined ? undefined : toSubscription(row);
};

/** A subscription by the provider's id. */
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

/** The live subscription of an account; the database allows one. */
export const findLiveSubscription = async (database: Knex, userId: string): Promise<StoredSubscription | undefined> => {
  const row: SubscriptionRow | undefined = await database('subscriptions')
    .where({ svc_user_id: userId })
    .whereNotIn('status', ENDED)
    .first();
  return row === undefined ? undefined : toSubscription(row);
};

/** Live subscriptions of a provider whose period is over, and of which nothing was heard in the last hour. */
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

/** Stores what is known of a subscription, new or not. */
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
