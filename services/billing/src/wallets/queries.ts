import type { Knex } from 'knex';

/** A wallet's running totals; what can be spent is the balance without what is held. */
export interface WalletRow {
  readonly balance_micros: number;
  readonly held_micros: number;
  readonly currency: string;
}

/** The wallet of an account; undefined until its first top-up. */
export const findWallet = async (database: Knex, userId: string): Promise<WalletRow | undefined> => {
  return await database('wallets').where({ svc_user_id: userId }).first('balance_micros', 'held_micros', 'currency');
};

/** Credits a payment once per reference; answers the wallet's new revision, or null where it was credited before. */
export const creditOnce = async (
  trx: Knex.Transaction,
  payment: { userId: string; amountMicros: number; currency: string; reference: string },
): Promise<number | null> => {
  const { rows } = await trx.raw<{ rows: { revision: number | null }[] }>(
    'SELECT wallet_credit(?, ?, ?, ?) AS revision',
    [payment.userId, payment.amountMicros, payment.currency, payment.reference],
  );
  return rows[0]?.revision ?? null;
};

/** Takes a refund from what is available in the wallet; false where that is less. */
export const debitRefund = async (
  trx: Knex.Transaction,
  refund: { userId: string; amountMicros: number; refundId: string },
): Promise<boolean> => {
  const { rows } = await trx.raw<{ rows: { is_taken: boolean }[] }>('SELECT wallet_refund(?, ?, ?) AS is_taken', [
    ...[refund.userId, refund.amountMicros, referenceOf(refund.refundId)],
  ]);
  return rows[0]?.is_taken === true;
};

/** Puts a refund back into the wallet. */
export const creditRefusedRefund = async (
  trx: Knex.Transaction,
  refund: { userId: string; amountMicros: number; refundId: string },
): Promise<void> => {
  await trx.raw('SELECT wallet_refund_refused(?, ?, ?)', [
    ...[refund.userId, refund.amountMicros, referenceOf(refund.refundId)],
  ]);
};

/** Operators choose the ids of refunds: they must never be those of requests in the ledger. */
const referenceOf = (refundId: string): string => {
  return `refund:${refundId}`;
};
