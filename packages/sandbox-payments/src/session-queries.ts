import { recordColumns } from '@svc/database';
import type { Knex } from 'knex';
import type { Promotion } from './promotion.ts';
import type { NewSession, PaymentFailure, SandboxSession } from './sandbox-session.ts';

const TABLE = 'sandbox_payments.sessions';
const COLUMNS = recordColumns<SandboxSession>({
  id: 'id text',
  customer: 'customer text',
  description: 'description text',
  planId: 'plan_id text',
  interval: 'interval text',
  amountMicros: 'amount_micros bigint',
  currency: 'currency text',
  promotionCode: 'promotion_code text',
  discountMicros: 'discount_micros bigint',
  successUrl: 'success_url text',
  cancelUrl: 'cancel_url text',
  expiresAt: 'expires_at timestamptz',
  status: 'status text',
  subscriptionId: 'subscription_id text',
  isChallenged: 'is_challenged boolean',
  failure: 'failure text',
});

type Row = SandboxSession & { readonly isOver: boolean };

const select = (database: Knex) =>
  database(TABLE).select<Row[]>(
    database.raw(COLUMNS.select(TABLE)),
    database.raw('expires_at <= sandbox_payments.clock() AS "isOver"'),
  );

/** Reads an open session as expired once its time is over. */
const toSession = ({ isOver, ...session }: Row): SandboxSession =>
  session.status === 'open' && isOver ? { ...session, status: 'expired' } : session;

/** Stores a session. Storing it again changes nothing. */
export const insertSession = async (database: Knex, session: NewSession): Promise<void> => {
  const undecided = { subscriptionId: null, isChallenged: false, failure: null };
  const open = { ...session, ...undecided, promotionCode: null, discountMicros: 0, status: 'open' } as const;
  await database(TABLE).insert(COLUMNS.toRow(open)).onConflict('id').ignore();
};

export const findSession = async (database: Knex, id: string): Promise<SandboxSession | undefined> => {
  const [row] = await select(database).where({ id });
  return row && toSession(row);
};

/** Finds a session and locks it until the transaction ends. */
export const lockSession = async (trx: Knex.Transaction, id: string): Promise<SandboxSession | undefined> => {
  const [row] = await select(trx).where({ id }).forUpdate();
  return row && toSession(row);
};

/** Finds the id of the session that started a subscription. */
export const findSessionOfSubscription = async (
  database: Knex,
  subscriptionId: string,
): Promise<string | undefined> => {
  const row = await database(TABLE).where({ subscription_id: subscriptionId }).first('id');
  return row?.id;
};

/** Returns the price at which a subscription was bought. */
export const findPriceOfSubscription = async (
  database: Knex,
  subscriptionId: string,
): Promise<{ amountMicros: number; currency: string } | undefined> => {
  const row = await database(TABLE).where({ subscription_id: subscriptionId }).first('amount_micros', 'currency');
  return row && { amountMicros: row.amount_micros, currency: row.currency };
};

/** Marks a session as paid, to be announced. */
export const completeSession = async (
  trx: Knex.Transaction,
  id: string,
  subscriptionId: string | null,
): Promise<void> => {
  await trx(TABLE)
    .where({ id })
    .update({ status: 'complete', subscription_id: subscriptionId, is_announced: false, is_challenged: false });
};

/** Stores the result of the last attempt at a payment, which the page shows. */
export const updateAttempt = async (
  database: Knex,
  id: string,
  attempt: { readonly isChallenged: boolean; readonly failure: PaymentFailure | null },
): Promise<void> => {
  await database(TABLE)
    .where({ id, status: 'open' })
    .update({ is_challenged: attempt.isChallenged, failure: attempt.failure });
};

/** Stores the promotion of an open purchase of a plan; null removes it. A payment that is made meanwhile keeps its price. */
export const updatePromotion = async (database: Knex, id: string, promotion: Promotion | null): Promise<void> => {
  await database(TABLE)
    .where({ id, status: 'open' })
    .whereNotNull('plan_id')
    .update({ promotion_code: promotion?.code ?? null, discount_micros: promotion?.discountMicros ?? 0 });
};

/** Lists paid sessions that are not announced. */
export const listUnannouncedSessions = async (database: Knex, limit: number): Promise<string[]> =>
  await database(TABLE).where({ is_announced: false }).orderBy('id').limit(limit).pluck('id');

export const markSessionAnnounced = async (database: Knex, id: string): Promise<void> => {
  await database(TABLE).where({ id }).update({ is_announced: true });
};
