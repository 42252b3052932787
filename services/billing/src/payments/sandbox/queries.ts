import type { Knex } from 'knex';
import type { PaymentFailure, SandboxPortal, SandboxSession, SandboxSubscription } from './sandbox-records.ts';

/** Minutes for which a visit to the portal lasts. */
const PORTAL_MINUTES = 60;

/** The database's time, in the whole milliseconds of anchors and periods. */
export const readNow = async (database: Knex): Promise<Date> => {
  const { rows } = await database.raw<{ rows: { now: Date }[] }>(
    "SELECT date_trunc('milliseconds', billing_now()) AS now",
  );
  const [row] = rows;
  if (row === undefined) throw new Error('a clock answered nothing');
  return row.now;
};

/** Stores a session; storing it again changes nothing. */
export const insertSession = async (
  database: Knex,
  session: Omit<SandboxSession, 'status' | 'subscriptionId' | 'isChallenged' | 'failure'> & { expiresAt: Date },
): Promise<void> => {
  await database('sandbox_sessions')
    .insert({
      id: session.id,
      customer: session.customer,
      description: session.description,
      plan_id: session.planId,
      interval: session.interval,
      amount_micros: session.amountMicros,
      currency: session.currency,
      success_url: session.successUrl,
      cancel_url: session.cancelUrl,
      expires_at: session.expiresAt,
    })
    .onConflict('id')
    .ignore();
};

/** A session; an open one whose time is over reads as expired. */
export const findSession = async (database: Knex, id: string): Promise<SandboxSession | undefined> => {
  const row = await sessionQuery(database, id).first();
  return row === undefined ? undefined : toSession(row);
};

/** Finds the id of the session that started a subscription. */
export const findSessionOfSubscription = async (
  database: Knex,
  subscriptionId: string,
): Promise<string | undefined> => {
  const row = await database('sandbox_sessions').where({ subscription_id: subscriptionId }).first('id');
  return row?.id;
};

/** As `findSession`, locked until the transaction ends. */
export const lockSession = async (trx: Knex.Transaction, id: string): Promise<SandboxSession | undefined> => {
  const row = await sessionQuery(trx, id).forUpdate().first();
  return row === undefined ? undefined : toSession(row);
};

/** Marks a session as paid; billing is yet to be told. */
export const completeSession = async (
  trx: Knex.Transaction,
  id: string,
  subscriptionId: string | null,
): Promise<void> => {
  await trx('sandbox_sessions')
    .where({ id })
    .update({ status: 'complete', subscription_id: subscriptionId, is_announced: false, is_challenged: false });
};

/** Remembers how the last attempt at paying went, for the page to say so. */
export const updateAttempt = async (
  database: Knex,
  id: string,
  attempt: { isChallenged: boolean; failure: PaymentFailure | null },
): Promise<void> => {
  const { isChallenged, failure } = attempt;
  await database('sandbox_sessions').where({ id, status: 'open' }).update({ is_challenged: isChallenged, failure });
};

/** Paid sessions of which billing has not been told. */
export const listUnannouncedSessions = async (database: Knex, limit: number): Promise<string[]> => {
  return await database('sandbox_sessions').where({ is_announced: false }).orderBy('id').limit(limit).pluck('id');
};

/** Notes that billing has been told of a session. */
export const markSessionAnnounced = async (database: Knex, id: string): Promise<void> => {
  await database('sandbox_sessions').where({ id }).update({ is_announced: true });
};

/** A subscription by its id. */
export const findSubscription = async (database: Knex, id: string): Promise<SandboxSubscription | undefined> => {
  const row = await database('sandbox_subscriptions').where({ id }).first();
  return row === undefined ? undefined : toSubscription(row);
};

/** As `findSubscription`, locked until the transaction ends. */
export const lockSubscription = async (trx: Knex.Transaction, id: string): Promise<SandboxSubscription | undefined> => {
  const row = await trx('sandbox_subscriptions').where({ id }).forUpdate().first();
  return row === undefined ? undefined : toSubscription(row);
};

/** As `findPortalSubscription`, locked until the transaction ends. */
export const lockPortalSubscription = async (
  trx: Knex.Transaction,
  customer: string,
): Promise<SandboxSubscription | undefined> => {
  const row = await portalQuery(trx, customer).forUpdate().first();
  return row === undefined ? undefined : toSubscription(row);
};

/** The subscription that a customer manages: the newest that is live, or else the newest that can still be paid. */
export const findPortalSubscription = async (
  database: Knex,
  customer: string,
): Promise<SandboxSubscription | undefined> => {
  const row = await portalQuery(database, customer).first();
  return row === undefined ? undefined : toSubscription(row);
};

/** Stores a subscription, new or changed; billing is yet to be told. */
export const saveSubscription = async (trx: Knex.Transaction, subscription: SandboxSubscription): Promise<void> => {
  await trx('sandbox_subscriptions')
    .insert({
      id: subscription.id,
      customer: subscription.customer,
      plan_id: subscription.planId,
      interval: subscription.interval,
      status: subscription.status,
      anchor: subscription.anchor,
      period_start: subscription.periodStart,
      period_end: subscription.periodEnd,
      cancel_at_period_end: subscription.cancelAtPeriodEnd,
      ended_at: subscription.endedAt,
      was_reverted: subscription.wasReverted,
      card: subscription.card,
      when_unpaid: subscription.whenUnpaid,
      clock_ahead_seconds: subscription.clockAheadSeconds,
      failed_attempts: subscription.failedAttempts,
      next_attempt_at: subscription.nextAttemptAt,
      is_announced: false,
    })
    .onConflict('id')
    .merge();
};

/** Subscriptions with which something happens by now, each by its own clock. */
export const listDueSubscriptions = async (database: Knex, limit: number): Promise<string[]> => {
  const dueAt = "(CASE status WHEN 'past_due' THEN next_attempt_at ELSE period_end END)";
  return await database('sandbox_subscriptions')
    .whereIn('status', ['active', 'trialing', 'past_due'])
    .whereRaw(`${dueAt} <= (SELECT billing_now()) + make_interval(secs => clock_ahead_seconds)`)
    .orderByRaw(dueAt)
    .limit(limit)
    .pluck('id');
};

/** Subscriptions that have changed without billing having been told. */
export const listUnannouncedSubscriptions = async (database: Knex, limit: number): Promise<string[]> => {
  return await database('sandbox_subscriptions').where({ is_announced: false }).orderBy('id').limit(limit).pluck('id');
};

/** Notes that billing has been told, unless the subscription has changed again since. */
export const markSubscriptionAnnounced = async (database: Knex, told: SandboxSubscription): Promise<void> => {
  await database('sandbox_subscriptions')
    .where({ id: told.id, status: told.status, plan_id: told.planId, period_end: told.periodEnd })
    .andWhere({ cancel_at_period_end: told.cancelAtPeriodEnd })
    .update({ is_announced: true });
};

/** Stores a visit to the portal. */
export const insertPortal = async (database: Knex, portal: Omit<SandboxPortal, 'isChallenged'>): Promise<void> => {
  await database('sandbox_portal_sessions').insert({
    id: portal.id,
    customer: portal.customer,
    return_url: portal.returnUrl,
    expires_at: database.raw('billing_now() + make_interval(mins => ?)', [PORTAL_MINUTES]),
  });
};

/** A visit to the portal that still lasts. */
export const findPortal = async (database: Knex, id: string): Promise<SandboxPortal | undefined> => {
  const row = await database('sandbox_portal_sessions').where({ id }).whereRaw('expires_at > billing_now()').first();
  if (row === undefined) return undefined;
  return { id: row.id, customer: row.customer, returnUrl: row.return_url, isChallenged: row.is_challenged };
};

/** Notes whether the bank waits for an answer in this visit. */
export const updatePortalChallenge = async (database: Knex, id: string, isChallenged: boolean): Promise<void> => {
  await database('sandbox_portal_sessions').where({ id }).update({ is_challenged: isChallenged });
};

interface SessionRow {
  id: string;
  customer: string;
  description: string;
  plan_id: string | null;
  interval: 'month' | 'year' | null;
  amount_micros: number;
  currency: string;
  success_url: string;
  cancel_url: string;
  status: 'open' | 'complete';
  is_over: boolean;
  subscription_id: string | null;
  is_challenged: boolean;
  failure: PaymentFailure | null;
}

interface SubscriptionRow {
  id: string;
  customer: string;
  plan_id: string;
  interval: 'month' | 'year';
  status: SandboxSubscription['status'];
  anchor: Date;
  period_start: Date;
  period_end: Date;
  cancel_at_period_end: boolean;
  ended_at: Date | null;
  was_reverted: boolean;
  card: SandboxSubscription['card'];
  when_unpaid: SandboxSubscription['whenUnpaid'];
  clock_ahead_seconds: number;
  failed_attempts: number;
  next_attempt_at: Date | null;
}

const sessionQuery = (database: Knex, id: string) => {
  return database('sandbox_sessions').where({ id }).select('*', database.raw('expires_at <= billing_now() AS is_over'));
};

const portalQuery = (database: Knex, customer: string) => {
  return database('sandbox_subscriptions')
    .where({ customer })
    .whereNotIn('status', ['canceled', 'incomplete_expired'])
    .orderByRaw("status = 'unpaid', id DESC");
};

const toSession = (row: SessionRow): SandboxSession => {
  return {
    id: row.id,
    customer: row.customer,
    description: row.description,
    planId: row.plan_id,
    interval: row.interval,
    amountMicros: row.amount_micros,
    currency: row.currency,
    successUrl: row.success_url,
    cancelUrl: row.cancel_url,
    status: row.status === 'open' && row.is_over ? 'expired' : row.status,
    subscriptionId: row.subscription_id,
    isChallenged: row.is_challenged,
    failure: row.failure,
  };
};

const toSubscription = (row: SubscriptionRow): SandboxSubscription => {
  return {
    id: row.id,
    customer: row.customer,
    planId: row.plan_id,
    interval: row.interval,
    status: row.status,
    anchor: row.anchor,
    periodStart: row.period_start,
    periodEnd: row.period_end,
    cancelAtPeriodEnd: row.cancel_at_period_end,
    endedAt: row.ended_at,
    wasReverted: row.was_reverted,
    card: row.card,
    whenUnpaid: row.when_unpaid,
    clockAheadSeconds: row.clock_ahead_seconds,
    failedAttempts: row.failed_attempts,
    nextAttemptAt: row.next_attempt_at,
  };
};
