import { recordColumns } from '@svc/database';
import type { Knex } from 'knex';
import type { SandboxSubscription } from './sandbox-subscription.ts';

const TABLE = 'sandbox_payments.subscriptions';
const COLUMNS = recordColumns<SandboxSubscription>({
  id: 'id text',
  customer: 'customer text',
  planId: 'plan_id text',
  interval: 'interval text',
  status: 'status text',
  anchor: 'anchor timestamptz',
  periodStart: 'period_start timestamptz',
  periodEnd: 'period_end timestamptz',
  cancelAtPeriodEnd: 'cancel_at_period_end boolean',
  endedAt: 'ended_at timestamptz',
  wasReverted: 'was_reverted boolean',
  card: 'card text',
  whenUnpaid: 'when_unpaid text',
  clockAheadSeconds: 'clock_ahead_seconds bigint',
  failedAttempts: 'failed_attempts int',
  nextAttemptAt: 'next_attempt_at timestamptz',
  creditMicros: 'credit_micros bigint',
});

const select = (database: Knex) => database(TABLE).select<SandboxSubscription[]>(database.raw(COLUMNS.select(TABLE)));

export const findSubscription = async (database: Knex, id: string): Promise<SandboxSubscription | undefined> => {
  const [subscription] = await select(database).where({ id });
  return subscription;
};

/** Finds a subscription and locks it until the transaction ends. */
export const lockSubscription = async (trx: Knex.Transaction, id: string): Promise<SandboxSubscription | undefined> => {
  const [subscription] = await select(trx).where({ id }).forUpdate();
  return subscription;
};

/** Finds the subscription that a customer manages: the newest live one, else the newest that can still be paid. */
export const findPortalSubscription = async (
  database: Knex,
  customer: string,
): Promise<SandboxSubscription | undefined> => {
  const [subscription] = await ofCustomer(database, customer);
  return subscription;
};

/** Finds the subscription that a customer manages and locks it until the transaction ends. */
export const lockPortalSubscription = async (
  trx: Knex.Transaction,
  customer: string,
): Promise<SandboxSubscription | undefined> => {
  const [subscription] = await ofCustomer(trx, customer).forUpdate();
  return subscription;
};

const ofCustomer = (database: Knex, customer: string) =>
  select(database)
    .where({ customer })
    .whereNotIn('status', ['canceled', 'incomplete_expired'])
    .orderByRaw("status = 'unpaid', id DESC")
    .limit(1);

/** Stores a new or changed subscription, to be announced. */
export const saveSubscription = async (trx: Knex.Transaction, subscription: SandboxSubscription): Promise<void> => {
  await trx(TABLE)
    .insert({ ...COLUMNS.toRow(subscription), is_announced: false })
    .onConflict('id')
    .merge();
};

export const updateCredit = async (trx: Knex.Transaction, id: string, creditMicros: number): Promise<void> => {
  await trx(TABLE).where({ id }).update({ credit_micros: creditMicros });
};

/** Lists subscriptions that are due by their own clocks, the longest due first. */
export const listDueSubscriptions = async (database: Knex, limit: number): Promise<string[]> => {
  const dueAt = "(CASE status WHEN 'past_due' THEN next_attempt_at ELSE period_end END)";
  return await database(TABLE)
    .whereIn('status', ['active', 'trialing', 'past_due'])
    .whereRaw(`${dueAt} <= (SELECT sandbox_payments.clock()) + make_interval(secs => clock_ahead_seconds)`)
    .orderByRaw(dueAt)
    .limit(limit)
    .pluck('id');
};

export const listUnannouncedSubscriptions = async (database: Knex, limit: number): Promise<string[]> =>
  await database(TABLE).where({ is_announced: false }).orderBy('id').limit(limit).pluck('id');

/** Marks a subscription as announced, unless it has changed since. */
export const markSubscriptionAnnounced = async (database: Knex, announced: SandboxSubscription): Promise<void> => {
  const { id, status, planId, periodEnd, cancelAtPeriodEnd } = announced;
  await database(TABLE)
    .where({ id, status, plan_id: planId, period_end: periodEnd, cancel_at_period_end: cancelAtPeriodEnd })
    .update({ is_announced: true });
};
