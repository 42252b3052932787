import type { Refund } from '@svc/contracts';
import type { Knex } from 'knex';

export interface TopUpRefund {
  readonly id: string;
  readonly userId: string;
  readonly sessionId: string;
  readonly amountMicros: number;
  readonly state: Refund['state'];
}

export const findRefund = async (database: Knex, id: string): Promise<TopUpRefund | undefined> => {
  const row = await database('wallet_refunds').where({ id }).first();
  return row === undefined ? undefined : toRefund(row);
};

/** Finds a refund and locks it until the transaction ends. */
export const lockRefund = async (trx: Knex.Transaction, id: string): Promise<TopUpRefund | undefined> => {
  const row = await trx('wallet_refunds').where({ id }).forUpdate().first();
  return row === undefined ? undefined : toRefund(row);
};

/** Inserts a pending refund. Returns false if the id is taken. */
export const insertRefund = async (trx: Knex.Transaction, refund: Omit<TopUpRefund, 'state'>): Promise<boolean> => {
  const inserted = await trx('wallet_refunds')
    .insert({
      id: refund.id,
      svc_user_id: refund.userId,
      session_id: refund.sessionId,
      amount_micros: refund.amountMicros,
      created_at: trx.raw('billing_now()'),
    })
    .onConflict('id')
    .ignore()
    .returning('id');
  return inserted.length > 0;
};

/** Records the payment provider's decision on a refund. */
export const updateRefundState = async (
  trx: Knex.Transaction,
  id: string,
  state: Exclude<Refund['state'], 'pending'>,
): Promise<void> => {
  await trx('wallet_refunds')
    .where({ id })
    .update({ state, ended_at: trx.raw('billing_now()') });
};

/** Returns the sum of completed and pending refunds of a top-up. */
export const sumRefunds = async (database: Knex, sessionId: string): Promise<number> => {
  const row = await database('wallet_refunds')
    .where({ session_id: sessionId })
    .whereNot({ state: 'refused' })
    .first(database.raw('coalesce(sum(amount_micros), 0)::bigint AS total'));
  return row?.total ?? 0;
};

/** Lists refunds that the payment provider has not answered yet, oldest first. */
export const listPendingRefunds = async (database: Knex, limit: number): Promise<string[]> => {
  return await database('wallet_refunds').where({ state: 'pending' }).orderBy('created_at').limit(limit).pluck('id');
};

interface RefundRow {
  id: string;
  svc_user_id: string;
  session_id: string;
  amount_micros: number;
  state: TopUpRefund['state'];
}

const toRefund = (row: RefundRow): TopUpRefund => {
  return {
    id: row.id,
    userId: row.svc_user_id,
    sessionId: row.session_id,
    amountMicros: row.amount_micros,
    state: row.state,
  };
};
