import type { WalletTransaction } from '@svc/contracts';
import type { Knex } from 'knex';

/** A change of a wallet, or the usage of a whole day. */
export interface TransactionRow {
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
      CASE WHEN p.kind = 'adjustment' OR p.reference LIKE 'dispute:%' THEN 'adjustment' ELSE p.kind END AS type,
      (p.posted_at AT TIME ZONE 'UTC')::date AS day, 0 AS is_usage, p.id AS seq, e.amount_micros AS amount, 0 AS extra, p.posted_at
    FROM ledger_postings AS p JOIN ledger_entries AS e ON e.posting_id = p.id AND e.book = 'wallet_available'
    WHERE p.svc_user_id = :userId AND p.kind IN ('top_up', 'refund', 'adjustment')
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
export const listTransactions = async (
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
