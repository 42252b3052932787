import { recordColumns } from '@svc/database';
import type { Metrics } from '@svc/service-kit';
import type { Knex } from 'knex';
import { whereDue } from '../jobs.ts';
import type { Payment } from './stripe/index.ts';

/** A purchase, stored from the start of its checkout. */
export interface CheckoutSession {
  readonly id: string;
  readonly userId: string;
  readonly kind: 'subscription' | 'top_up' | 'seats';
  readonly planId: string | null;
  /** Number of seats; null for other purchases. */
  readonly quantity: number | null;
  readonly amountMicros: number | null;
  /** Price at the start of the checkout. */
  readonly asked: Payment;
  readonly providerSessionId: string | null;
  /** True for a charge of the saved payment method, which has no hosted page. */
  readonly isAutomatic: boolean;
  /**
   * `expired`: ended without a payment, as an automatic charge that failed. `void`: paid while another subscription was live, and therefore refunded. `mismatched`: the payment differs from
   * the price, and therefore had no effect.
   */
  readonly status: 'open' | 'complete' | 'expired' | 'void' | 'mismatched';
  readonly subscriptionId: string | null;
  readonly startedAt: Date;
  readonly expiresAt: Date;
}

/** Appends the session id to the query of a return URL. Every other byte stays the same. */
export const withSessionId = (returnUrl: string, sessionId: string): string => {
  const [base = '', ...fragment] = returnUrl.split('#');
  const separator = base.includes('?') ? (/[?&]$/.test(base) ? '' : '&') : '?';
  return [`${base}${separator}session_id=${encodeURIComponent(sessionId)}`, ...fragment].join('#');
};

/** Hours until an unpaid checkout expires. */
const CHECKOUT_HOURS = 24;

/** Hours for which a mismatched payment keeps the alert active. */
const ALERT_HOURS = 24;

/** Open checkouts listed per account; far more than a user starts within CHECKOUT_HOURS. */
const UNSETTLED_MAX = 50;

/** Time for the event of an expired checkout to arrive. */
const OVERDUE_AFTER_SECONDS = 3600;

/** States in which a payment can still be found. */
const UNPAID = ['open', 'expired'];

/** A session with its price in two columns. */
interface StoredSession extends Omit<CheckoutSession, 'asked'> {
  readonly askedMicros: number;
  readonly askedCurrency: string;
}

const COLUMNS = recordColumns<StoredSession>({
  id: 'id text',
  userId: 'svc_user_id text',
  kind: 'kind text',
  planId: 'plan_id text',
  quantity: 'quantity integer',
  amountMicros: 'amount_micros bigint',
  askedMicros: 'asked_micros bigint',
  askedCurrency: 'asked_currency text',
  providerSessionId: 'provider_session_id text',
  isAutomatic: 'is_automatic boolean',
  status: 'status text',
  subscriptionId: 'subscription_id text',
  startedAt: 'created_at timestamptz',
  expiresAt: 'expires_at timestamptz',
});

/** A session that the provider does not know yet. */
interface NewCheckoutSession {
  readonly id: string;
  readonly userId: string;
  readonly kind: CheckoutSession['kind'];
  readonly planId: string | null;
  /** Default: null. */
  readonly quantity?: number | null;
  readonly amountMicros: number | null;
  readonly asked: Payment;
  readonly isAutomatic?: boolean;
  /** Default: now. */
  readonly startedAt?: Date;
}

/** Inserts a session and returns its expiry. */
export const insertCheckoutSession = async (database: Knex, session: NewCheckoutSession): Promise<Date> => {
  const [row] = await database('checkout_sessions')
    .insert({
      id: session.id,
      svc_user_id: session.userId,
      kind: session.kind,
      plan_id: session.planId,
      quantity: session.quantity ?? null,
      amount_micros: session.amountMicros,
      asked_micros: session.asked.amountMicros,
      asked_currency: session.asked.currency,
      is_automatic: session.isAutomatic ?? false,
      created_at: session.startedAt ?? database.raw('billing_now()'),
      // Whole milliseconds, so that the caller and the provider get exactly the stored value.
      expires_at: database.raw("date_trunc('milliseconds', billing_now() + make_interval(hours => ?))", [
        CHECKOUT_HOURS,
      ]),
    })
    .returning('expires_at');
  return row.expires_at;
};

/** Stores the provider's id of a session, unless one is stored already. */
export const updateProviderSession = async (database: Knex, id: string, providerSessionId: string): Promise<void> => {
  await database('checkout_sessions')
    .where({ id, provider_session_id: null })
    .update({ provider_session_id: providerSessionId });
};

const selectSessions = (database: Knex) =>
  database('checkout_sessions').select<StoredSession[]>(database.raw(COLUMNS.select('checkout_sessions')));

/** Finds a session by its id. */
export const findCheckoutSession = async (database: Knex, id: string): Promise<CheckoutSession | undefined> => {
  const session = await selectSessions(database).where({ id }).first();
  return session && toSession(session);
};

/** Finds a session by its id at the provider. */
export const findCheckoutByProvider = async (
  database: Knex,
  providerSessionId: string,
): Promise<CheckoutSession | undefined> => {
  const session = await selectSessions(database).where({ provider_session_id: providerSessionId }).first();
  return session && toSession(session);
};

/** Finds a session and locks it until the transaction ends. */
export const lockCheckoutSession = async (trx: Knex.Transaction, id: string): Promise<CheckoutSession | undefined> => {
  const session = await selectSessions(trx).where({ id }).forUpdate().first();
  return session && toSession(session);
};

/** Lists the open subscription checkouts of an account, oldest first. */
export const listOpenSubscriptionCheckouts = async (database: Knex, userId: string): Promise<CheckoutSession[]> => {
  const sessions = await selectSessions(database)
    .where({ svc_user_id: userId, kind: 'subscription', status: 'open' })
    .whereNotNull('provider_session_id')
    .orderBy('id')
    .limit(UNSETTLED_MAX);
  return sessions.map(toSession);
};

/** Lists hosted checkouts that are open although their time is over, oldest first, but for those that wait. */
export const listOverdueCheckouts = async (database: Knex, limit: number): Promise<string[]> =>
  await whereDue(
    database('checkout_sessions')
      .where({ status: 'open', is_automatic: false })
      .whereRaw('expires_at < (SELECT billing_now()) - make_interval(secs => ?)', [OVERDUE_AFTER_SECONDS]),
    'checkouts',
    'checkout_sessions.id',
  )
    .orderBy('expires_at')
    .limit(limit)
    .pluck('id');

/** Ends an open session as paid, reverted or expired. A payment that is found late ends an expired one too. */
export const updateSessionStatus = async (
  database: Knex,
  id: string,
  end: { status: 'complete' | 'void' | 'expired'; subscriptionId?: string },
): Promise<void> => {
  await database('checkout_sessions')
    .where({ id })
    .whereIn('status', end.status === 'expired' ? ['open'] : UNPAID)
    .update({
      status: end.status,
      subscription_id: end.subscriptionId ?? null,
      completed_at: end.status === 'expired' ? null : database.raw('billing_now()'),
    });
};

/** Records that a person has confirmed a paid session. Returns false if that was recorded before. */
export const updateSessionConfirmed = async (trx: Knex.Transaction, id: string): Promise<boolean> =>
  (await trx('checkout_sessions').where({ id, is_confirmed: false }).update({ is_confirmed: true })) > 0;

/** Ends an unpaid session as mismatched, and records the payment for the operator. */
export const updateSessionMismatched = async (
  trx: Knex.Transaction,
  id: string,
  { paid, providerSubscriptionId }: { paid: Payment | null; providerSubscriptionId: string | null },
): Promise<void> => {
  await trx('checkout_sessions')
    .where({ id })
    .whereIn('status', UNPAID)
    .update({
      status: 'mismatched',
      paid_micros: paid?.amountMicros ?? null,
      paid_currency: paid?.currency ?? null,
      mismatched_subscription_id: providerSubscriptionId,
      completed_at: trx.raw('billing_now()'),
    });
};

/** Returns true if the subscription was bought through a mismatched session of this account. */
export const isMismatchedSubscription = async (
  database: Knex,
  userId: string,
  providerSubscriptionId: string,
): Promise<boolean> => {
  const row = await database('checkout_sessions')
    .where({ svc_user_id: userId, status: 'mismatched', mismatched_subscription_id: providerSubscriptionId })
    .first('id');
  return row !== undefined;
};

/** Counts the mismatched sessions of the last ALERT_HOURS. */
export const countMismatchedSessions = async (database: Knex): Promise<number> => {
  const row = await database('checkout_sessions')
    .where({ status: 'mismatched' })
    .whereRaw('completed_at > billing_now() - make_interval(hours => ?)', [ALERT_HOURS])
    .first(database.raw('count(*)::int AS count'));
  return row?.count ?? 0;
};

const toSession = ({ askedMicros, askedCurrency, ...session }: StoredSession): CheckoutSession => ({
  ...session,
  asked: { amountMicros: askedMicros, currency: askedCurrency },
});

/** Metrics of payments. */
export interface PaymentMeters {
  readonly mismatched: (count: number) => void;
}

export const createPaymentMeters = (metrics: Metrics): PaymentMeters => {
  const mismatched = metrics.gauge({
    name: 'billing_mismatched_payments',
    help: 'Paid checkouts of the last 24 hours whose amount or currency differs from the price.',
  });
  return { mismatched: (count) => mismatched.set(count) };
};
