import type { Knex } from 'knex';

/**
 * Adds the postings before the days of wallets began, and finds all others of a wallet without reading those of its use.
 * Takes rows in the order of settlements.
 */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
    INSERT INTO wallet_usage_days AS d (svc_user_id, day, paid_micros, last_posted_at)
      SELECT svc_user_id, (posted_at AT TIME ZONE 'UTC')::date AS day, -sum(amount), max(posted_at)
        FROM (SELECT p.svc_user_id, p.posted_at, sum(e.amount_micros) AS amount
              FROM ledger_postings AS p
              JOIN ledger_entries AS e ON e.posting_id = p.id AND e.book IN ('wallet_available', 'wallet_held')
              WHERE p.id <= (SELECT posting_id FROM wallet_usage_days_start) AND p.kind NOT IN ('top_up', 'refund')
                AND NOT p.reference LIKE ANY ('{refund:%,reversal:%,dispute:%}')
              GROUP BY p.id HAVING sum(e.amount_micros) <> 0) AS used
        GROUP BY svc_user_id, 2 ORDER BY svc_user_id, 2
      ON CONFLICT (svc_user_id, day) DO UPDATE SET paid_micros = d.paid_micros + excluded.paid_micros,
        last_posted_at = greatest(d.last_posted_at, excluded.last_posted_at);
    DROP TABLE wallet_usage_days_start;
    CREATE INDEX ledger_postings_of_funds ON ledger_postings (svc_user_id, id)
      WHERE kind IN ('top_up', 'refund', 'adjustment');
  `);
};
