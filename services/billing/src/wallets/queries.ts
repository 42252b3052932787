import type { Knex } from 'knex';

/** Running totals of a wallet. The available balance is the balance minus the holds. */
export interface WalletRow {
  readonly balance_micros: number;
  readonly held_micros: number;
  readonly currency: string;
}

/** Finds the wallet of an account; undefined until its first top-up. */
export const findWallet = async (database: Knex, userId: string): Promise<WalletRow | undefined> =>
  await database('wallets').where({ svc_user_id: userId }).first('balance_micros', 'held_micros', 'currency');

/** Credits a payment once per reference. Returns the wallet's new revision, or null if it was credited before. */
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

/** Debits a refund from the wallet. Returns false if the available balance does not cover it. */
export const debitRefund = async (
  trx: Knex.Transaction,
  refund: { userId: string; amountMicros: number; refundId: string },
): Promise<boolean> => {
  const { rows } = await trx.raw<{ rows: { is_taken: boolean }[] }>('SELECT wallet_refund(?, ?, ?) AS is_taken', [
    ...[refund.userId, refund.amountMicros, referenceOf(refund.refundId)],
  ]);
  return rows[0]?.is_taken === true;
};

/** Credits a refused refund back to the wallet. */
export const creditRefusedRefund = async (
  trx: Knex.Transaction,
  refund: { userId: string; amountMicros: number; refundId: string },
): Promise<void> => {
  await trx.raw('SELECT wallet_refund_refused(?, ?, ?)', [
    ...[refund.userId, refund.amountMicros, referenceOf(refund.refundId)],
  ]);
};

/** Takes a reversed payment from the wallet, or gives it back if the change is negative. Call once per change. */
export const reverseTopUp = async (
  trx: Knex.Transaction,
  reversal: { userId: string; kind: 'refund' | 'dispute'; id: string; changes: number; changeMicros: number },
): Promise<void> => {
  const origin = reversal.kind === 'dispute' ? 'dispute' : 'reversal';
  await trx.raw('SELECT wallet_reverse(?, ?, ?)', [
    ...[reversal.userId, reversal.changeMicros, `${origin}:${reversal.id}:${reversal.changes}`],
  ]);
};

/** Returns the ledger reference of a refund. The prefix keeps ids chosen by operators apart from request ids. */
const referenceOf = (refundId: string): string => `refund:${refundId}`;
