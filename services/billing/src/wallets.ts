import { events, routes, type WalletTransaction, type walletSchema } from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import { type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { z } from 'zod';

/** Running totals of a wallet. The available balance is the balance minus the holds. */
interface WalletRow {
  readonly balance_micros: number;
  readonly held_micros: number;
  readonly currency: string;
}

/** Finds the wallet of an account; undefined until its first top-up. */
const findWallet = async (database: Knex, userId: string): Promise<WalletRow | undefined> =>
  await database('wallets').where({ svc_user_id: userId }).first('balance_micros', 'held_micros', 'currency');

/** Credits a payment once per reference. Returns the wallet's new revision, or null if it was credited before. */
const creditOnce = async (
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

/** Credits a paid top-up and publishes it. Idempotent by reference. */
export const creditWallet = async (
  trx: Knex.Transaction,
  payment: { userId: string; amountMicros: number; currency: string; reference: string; isAutomatic: boolean },
): Promise<void> => {
  const { userId, amountMicros, currency, isAutomatic } = payment;
  const revision = await creditOnce(trx, payment);
  const wallet = await findWallet(trx, userId);
  if (revision === null || wallet === undefined) return;
  await appendToOutbox(trx, {
    subject: events.walletCredited.subject,
    aggregate: `wallet:${userId}`,
    version: revision,
    data: {
      svc_user_id: userId,
      amount_micros: amountMicros,
      balance_micros: wallet.balance_micros,
      currency,
      source: isAutomatic ? 'automatic' : 'checkout',
    },
  });
};

/** A change of a wallet, or the usage of a whole day. */
interface TransactionRow {
  readonly id: string;
  readonly type: WalletTransaction['type'];
  /** Beginning of the ledger reference, such as `dispute`; empty for usage. */
  readonly origin: string;
  /** `YYYY-MM-DD`, in UTC. */
  readonly day: string;
  readonly amountMicros: number;
  /** Part of a usage that paid for use beyond a plan's caps. */
  readonly extraMicros: number;
  readonly balanceAfterMicros: number;
  readonly createdAt: Date;
}

/**
 * Orders usage after all other changes of its day, so that each balance equals the previous one plus the amount. The
 * corrections of requests are part of their day's usage.
 */
const TRANSACTIONS = `
  WITH changes AS (
    SELECT 'txn_' || p.id AS id, split_part(p.reference, ':', 1) AS origin,
      CASE WHEN p.kind = 'adjustment' OR p.reference LIKE 'dispute:%' THEN 'adjustment' ELSE p.kind::text END AS type,
      (p.posted_at AT TIME ZONE 'UTC')::date AS day, 0 AS is_usage, p.id AS seq, p.wallet_available_micros AS amount, 0 AS extra, p.posted_at
    FROM ledger_postings AS p
    WHERE p.wallet_available_micros IS NOT NULL AND p.svc_user_id = :userId AND p.kind IN ('top_up', 'refund', 'adjustment')
      AND (p.kind <> 'adjustment' OR p.reference LIKE ANY ('{refund:%,reversal:%,dispute:%}'))
    UNION ALL
    SELECT 'usage_' || to_char(day, 'YYYYMMDD'), '', 'usage', day, 1, 0, -paid_micros, extra_micros, last_posted_at
    FROM wallet_usage_days WHERE svc_user_id = :userId
  ), balanced AS (
    SELECT *, sum(amount) OVER (ORDER BY day, is_usage, seq) AS balance_after FROM changes
  )
  SELECT id, type, origin, to_char(day, 'YYYY-MM-DD') AS "dayText", amount::float8 AS "amountMicros", extra::float8 AS "extraMicros",
    balance_after::float8 AS "balanceAfterMicros", posted_at AS "createdAt"
  FROM balanced`;

/** Lists the changes of a wallet, newest first. `after` is the last id of the previous page. */
const listTransactions = async (
  database: Knex,
  { userId, after, limit }: { readonly userId: string; readonly after: string | undefined; readonly limit: number },
): Promise<TransactionRow[]> => {
  const behind =
    after === undefined
      ? ''
      : 'WHERE (day, is_usage, seq) < (SELECT b.day, b.is_usage, b.seq FROM balanced AS b WHERE b.id = :after)';
  const { rows } = await database.raw<{ rows: (Omit<TransactionRow, 'day'> & { readonly dayText: string })[] }>(
    `${TRANSACTIONS} ${behind} ORDER BY balanced.day DESC, is_usage DESC, seq DESC LIMIT :limit`,
    { userId, limit, ...(after === undefined ? {} : { after }) },
  );
  return rows.map(({ dayText, ...row }) => ({ ...row, day: dayText }));
};

/** Lists a page of a wallet's transactions, newest first. */
const listWalletTransactions = async (
  database: Knex,
  page: { readonly userId: string; readonly after: string | undefined; readonly limit: number },
): Promise<{ data: WalletTransaction[]; has_more: boolean }> => {
  // One extra row shows if there is another page.
  const rows = await listTransactions(database, { ...page, limit: page.limit + 1 });
  return { data: rows.slice(0, page.limit).map(showTransaction), has_more: rows.length > page.limit };
};

const showTransaction = (row: TransactionRow): WalletTransaction => ({
  id: row.id,
  type: row.type,
  amount_micros: row.amountMicros,
  balance_after_micros: row.balanceAfterMicros,
  ...(row.extraMicros > 0 ? { extra_use_micros: row.extraMicros } : {}),
  created_at: row.createdAt.toISOString(),
  description: DESCRIPTIONS[row.type](row),
});

const DESCRIPTIONS: Readonly<Record<TransactionRow['type'], (row: TransactionRow) => string>> = {
  top_up: ({ origin }) => (origin === 'auto_top_up' ? 'Automatic top-up' : 'Top-up'),
  usage: ({ day, amountMicros, extraMicros }) => {
    if (extraMicros === 0) return `API usage on ${day} (UTC)`;
    return `${extraMicros === -amountMicros ? 'Extra use' : 'API usage and extra use'} on ${day} (UTC)`;
  },
  refund: () => 'Refund of a top-up',
  write_off: () => 'Write-off',
  adjustment: ({ origin, amountMicros }) => {
    if (origin !== 'dispute') return 'Refund that was refused by the payment provider';
    return amountMicros < 0 ? 'Disputed payment, taken back by the bank' : 'Dispute closed, the payment is back';
  },
};

/** Reads the wallet of an account; an empty one before the first top-up. */
export const readWallet = async (database: Knex, userId: string, currency: string): Promise<Wallet> =>
  (await findWallet(database, userId)) ?? { balance_micros: 0, held_micros: 0, currency };

/** A wallet as shown to its owner. */
type Wallet = z.infer<typeof walletSchema>;

/** Binds the routes of the wallet. Top-ups go through the routes of payments. */
export const walletRoutes = ({ database, currency }: { database: Knex; currency: string }): Binding[] => [
  bind(routes.getWallet, async ({ caller }) => ({
    status: 200,
    body: await readWallet(database, caller.userId, currency),
  })),
  bind(routes.listWalletTransactions, async ({ caller, query }) => ({
    status: 200,
    body: await listWalletTransactions(database, { userId: caller.userId, after: query.after, limit: query.limit }),
  })),
];
