import type { Knex } from 'knex';

/** A wallet's running totals; what can be spent is the balance without what is held. */
export interface WalletRow {
  readonly balance_micros: number;
  readonly held_micros: number;
  readonly currency: string;
}

/** The wallet of an account; undefined until its first top-up. */
export async function findWallet(database: Knex, userId: string): Promise<WalletRow | undefined> {
  return await database('wallets').where({ svc_user_id: userId }).first('balance_micros', 'held_micros', 'currency');
}

/** Credits a payment once per reference; answers the wallet's new revision, or null where it was credited before. */
export async function creditOnce(
  trx: Knex.Transaction,
  payment: { userId: string; amountMicros: number; currency: string; reference: string },
): Promise<number | null> {
  const { rows } = await trx.raw<{ rows: { revision: number | null }[] }>(
    'SELECT wallet_credit(?, ?, ?, ?) AS revision',
    [payment.userId, payment.amountMicros, payment.currency, payment.reference],
  );
  return rows[0]?.revision ?? null;
}
