import type { Knex } from 'knex';
import type { ProviderName } from '../subscriptions/index.ts';
import type { CheckoutSession } from './checkout-session.ts';

/** Hours for which a checkout can be paid. */
const CHECKOUT_HOURS = 24;

/** A session before the provider has answered. */
export interface NewCheckoutSession {
  readonly id: string;
  readonly userId: string;
  readonly kind: CheckoutSession['kind'];
  readonly planId: string | null;
  readonly amountMicros: number | null;
  readonly provider: ProviderName;
}

/** Stores a session and answers when it expires. */
export const insertCheckoutSession = async (database: Knex, session: NewCheckoutSession): Promise<Date> => {
  const [row] = await database('checkout_sessions')
    .insert({
      id: session.id,
      svc_user_id: session.userId,
      kind: session.kind,
      plan_id: session.planId,
      amount_micros: session.amountMicros,
      provider: session.provider,
      created_at: database.raw('billing_now()'),
      // Whole milliseconds, as it is told to the caller and to the provider.
      expires_at: database.raw("date_trunc('milliseconds', billing_now() + make_interval(hours => ?))", [
        CHECKOUT_HOURS,
      ]),
    })
    .returning('expires_at');
  return row.expires_at;
};

/** Notes the provider's id of a session, unless it is known already. */
export const updateProviderSession = async (database: Knex, id: string, providerSessionId: string): Promise<void> => {
  await database('checkout_sessions')
    .where({ id, provider_session_id: null })
    .update({ provider_session_id: providerSessionId });
};

/** A session by its id. */
export const findCheckoutSession = async (database: Knex, id: string): Promise<CheckoutSession | undefined> => {
  const row = await database('checkout_sessions').where({ id }).first();
  return row === undefined ? undefined : toSession(row);
};

/** A session by its id, locked until the transaction ends. */
export const lockCheckoutSession = async (trx: Knex.Transaction, id: string): Promise<CheckoutSession | undefined> => {
  const row = await trx('checkout_sessions').where({ id }).forUpdate().first();
  return row === undefined ? undefined : toSession(row);
};

/** Ends a session that is open: paid, paid in vain, or expired. */
export const updateSessionStatus = async (
  database: Knex,
  id: string,
  end: { status: 'complete' | 'void' | 'expired'; subscriptionId?: string },
): Promise<void> => {
  await database('checkout_sessions')
    .where({ id, status: 'open' })
    .update({
      status: end.status,
      subscription_id: end.subscriptionId ?? null,
      completed_at: end.status === 'expired' ? null : database.raw('billing_now()'),
    });
};

interface SessionRow {
  id: string;
  svc_user_id: string;
  kind: CheckoutSession['kind'];
  plan_id: string | null;
  amount_micros: number | null;
  provider: ProviderName;
  provider_session_id: string | null;
  status: CheckoutSession['status'];
  subscription_id: string | null;
  expires_at: Date;
}

const toSession = (row: SessionRow): CheckoutSession => {
  return {
    id: row.id,
    userId: row.svc_user_id,
    kind: row.kind,
    planId: row.plan_id,
    amountMicros: row.amount_micros,
    provider: row.provider,
    providerSessionId: row.provider_session_id,
    status: row.status,
    subscriptionId: row.subscription_id,
    expiresAt: row.expires_at,
  };
};
