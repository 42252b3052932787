import type { Knex } from 'knex';

/** A running total that differs from the sum of its entries or reservations. */
interface Discrepancy {
  readonly total: string;
  readonly subject: string;
  readonly recorded: number;
  readonly derived: number;
}

/** Queries the tables of every slice directly, so that the check does not depend on the code it checks. */
const CHECKS: Readonly<Record<string, string>> = {
  posting: `
    SELECT id::text AS subject, 0 AS recorded, sum(amount_micros) AS derived
    FROM (SELECT posting_id AS id, amount_micros FROM ledger_entries) AS e GROUP BY id`,
  wallet_balance: `
    SELECT w.svc_user_id, w.balance_micros, coalesce(b.total, 0)
    FROM wallets w LEFT JOIN (
      SELECT svc_user_id, sum(total) AS total FROM books
      WHERE book = 'wallet_available' GROUP BY svc_user_id) b USING (svc_user_id)`,
  wallet_paid: `
    SELECT w.svc_user_id, coalesce(t.total, 0) - coalesce(r.total, 0) - coalesce(v.total, 0), -coalesce(b.total, 0)
    FROM wallets w LEFT JOIN books b ON b.svc_user_id = w.svc_user_id AND b.book = 'payments_received'
    LEFT JOIN (SELECT svc_user_id, sum(amount_micros) AS total FROM checkout_sessions
      WHERE kind = 'top_up' AND status = 'complete' GROUP BY svc_user_id) t ON t.svc_user_id = w.svc_user_id
    LEFT JOIN (SELECT svc_user_id, sum(amount_micros) AS total FROM wallet_refunds
      WHERE state <> 'refused' GROUP BY svc_user_id) r ON r.svc_user_id = w.svc_user_id
    LEFT JOIN (SELECT svc_user_id, sum(amount_micros) AS total FROM payment_reversals GROUP BY svc_user_id) v
      ON v.svc_user_id = w.svc_user_id`,
  wallet_held: `
    SELECT w.svc_user_id, w.held_micros, coalesce(l.total, 0) + coalesce(u.total, 0) + coalesce(x.total, 0)
    FROM wallets w LEFT JOIN (
      SELECT svc_user_id, sum(granted_micros - returned_micros - settled_micros) AS total FROM leases
      GROUP BY svc_user_id) l USING (svc_user_id)
    LEFT JOIN (SELECT svc_user_id, sum(held_micros) AS total FROM uncertain_key_requests
      GROUP BY svc_user_id) u USING (svc_user_id)
    LEFT JOIN (SELECT svc_user_id, sum(held) AS total FROM extra_requests GROUP BY svc_user_id) x USING (svc_user_id)`,
  extra_held: `
    SELECT e.svc_user_id, e.held_micros, coalesce(sum(x.held), 0)
    FROM extra_usage e LEFT JOIN extra_requests x ON x.svc_user_id = e.svc_user_id AND x.extra_month = e.month_start
    GROUP BY e.svc_user_id`,
  extra_used: `
    SELECT e.svc_user_id, e.used_micros, coalesce(sum(x.paid), 0)
    FROM extra_usage e LEFT JOIN extra_requests x ON x.svc_user_id = e.svc_user_id AND x.extra_month = e.month_start
    WHERE e.month_start >= (SELECT least(since, date_trunc('month', billing_now(), 'UTC')) FROM kept) GROUP BY e.svc_user_id`,
  extra_usage_day: `
    SELECT coalesce(d.subject, s.subject), coalesce(d.extra_micros, 0), coalesce(s.paid, 0)
    FROM (SELECT concat_ws(' ', svc_user_id, day) AS subject, extra_micros FROM wallet_usage_days
      WHERE day > (SELECT (posted_since AT TIME ZONE 'UTC')::date FROM kept)) d
    FULL JOIN extra_days s USING (subject)`,
  booked_cost: `
    SELECT subject, cost, income FROM booked_requests`,
  written_off: `
    SELECT subject, -written_off, write_offs FROM booked_requests`,
  lease_estimate: `
    SELECT l.lease_id::text, coalesce(l.estimated_micros, 0), coalesce(b.total, 0)
    FROM leases l LEFT JOIN (
      SELECT substring(reference FROM 7 FOR 36) AS lease_id, sum(income_micros) AS total
      FROM ledger_postings WHERE reference LIKE 'lease:%' GROUP BY 1) b ON b.lease_id = l.lease_id::text`,
  pending: `
    SELECT a.svc_user_id, a.pending, count(r.request_id)
    FROM accounts a LEFT JOIN reservations r ON r.svc_user_id = a.svc_user_id AND r.kind = 'delegated' AND r.state = 'reserved'
    GROUP BY a.svc_user_id`,
  week_used: `
    SELECT a.svc_user_id, a.week_used_micros, coalesce(sum(c.counted), 0)
    FROM accounts a LEFT JOIN counted c ON c.svc_user_id = a.svc_user_id AND c.week_start = a.week_start
    WHERE a.week_start >= (SELECT since FROM kept) GROUP BY a.svc_user_id`,
  month_used: `
    SELECT a.svc_user_id, a.month_used_micros, coalesce(sum(c.counted), 0)
    FROM accounts a LEFT JOIN counted c ON c.svc_user_id = a.svc_user_id AND c.month_start = a.month_start
    WHERE a.month_start >= (SELECT since FROM kept) GROUP BY a.svc_user_id`,
  usage_day_requests: `
    SELECT coalesce(d.subject, s.subject), coalesce(d.requests, 0), coalesce(s.requests, 0)
    FROM recorded_days d FULL JOIN settled_days s USING (subject)`,
  usage_day_cost: `
    SELECT coalesce(d.subject, s.subject), coalesce(d.cost, 0), coalesce(s.cost, 0)
    FROM recorded_days d FULL JOIN settled_days s USING (subject)`,
  wallet_usage_day: `
    SELECT coalesce(d.subject, s.subject), coalesce(d.paid_micros, 0), coalesce(s.paid, 0)
    FROM (SELECT concat_ws(' ', svc_user_id, day) AS subject, paid_micros FROM wallet_usage_days) d
    FULL JOIN used_wallet_days s USING (subject)`,
  member_usage: `
    SELECT coalesce(d.svc_user_id, m.svc_user_id), coalesce(m.total, 0), coalesce(d.total, 0)
    FROM (SELECT svc_user_id, sum(paid_micros - extra_micros) AS total FROM wallet_usage_days GROUP BY svc_user_id) d
    FULL JOIN (SELECT svc_user_id, sum(paid_micros) AS total FROM member_usage_days GROUP BY svc_user_id) m
      ON m.svc_user_id = d.svc_user_id`,
  app_held: `
    SELECT subject, held_micros, held FROM budgeted`,
  app_uncertain: `
    SELECT subject, uncertain_micros, uncertain FROM budgeted`,
  app_total_used: `
    SELECT subject, total_used_micros, total FROM budgeted WHERE limited_since >= (SELECT since FROM kept)`,
  // Requests made before the limit was set count at their cost, later ones at no more than their hold.
  app_used: `
    SELECT subject, used_micros, least(greatest(used_micros, used), cost) FROM budgeted
    WHERE greatest(window_start, limited_since) >= (SELECT since FROM kept)`,
  key_month_used: `
    SELECT k.key_id, k.month_used_micros, coalesce(sum(c.counted), 0)
    FROM key_budgets k LEFT JOIN counted_of_keys c ON c.key_id = k.key_id AND c.month_start = k.month_start
    -- Charged leases of earlier months may have been deleted.
    WHERE k.month_start >= date_trunc('month', billing_now(), 'UTC') GROUP BY k.key_id`,
};

/**
 * Sums of requests are proven since the oldest month that is kept, but for its first day, whose first requests may be older.
 * A posting may be up to a month younger than its requests, so those of the oldest month are left out once they are a month old.
 */
const SOURCES = `
  WITH kept AS (
    SELECT since, least(since + interval '31 days', billing_now() - interval '31 days') AS posted_since
    FROM (SELECT coalesce(max(oldest), '-infinity') AS since FROM (
      SELECT min(to_date(right(c.relname, 7), 'YYYY_MM'))::timestamp AT TIME ZONE 'UTC' AS oldest
      FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
      WHERE i.inhparent IN ('ended_reservations'::regclass, 'ended_key_requests'::regclass) AND c.relname ~ '_\\d{4}_\\d{2}$'
      GROUP BY i.inhparent) AS of_tables) AS oldest_kept
  ), booked_postings AS (
    SELECT id, kind, reference, posted_at, coalesce(income_micros, 0) AS income, coalesce(write_offs_micros, 0) AS write_offs
    FROM ledger_postings WHERE kind IN ('settlement', 'adjustment')
  ), books AS (
    SELECT p.svc_user_id, e.book, sum(e.amount_micros) AS total
    FROM ledger_postings p JOIN ledger_entries e ON e.posting_id = p.id GROUP BY p.svc_user_id, e.book
  ), counted AS (
    SELECT svc_user_id, week_start, month_start,
      CASE state WHEN 'uncertain' THEN estimate_micros ELSE coalesce(cost_micros, 0) END AS counted
    FROM reservations WHERE extra_month IS NULL
  ), extra_requests AS (
    SELECT request_id, svc_user_id, extra_month, CASE WHEN state IN ('reserved', 'uncertain') THEN budget_micros ELSE 0 END AS held,
      CASE state WHEN 'settled' THEN budget_micros ELSE 0 END AS paid, coalesce(cost_micros, 0) AS cost
    FROM reservations WHERE extra_month IS NOT NULL
  ), extra_days AS (
    SELECT concat_ws(' ', p.svc_user_id, (p.posted_at AT TIME ZONE 'UTC')::date) AS subject, -sum(p.wallet_available_micros) AS paid
    FROM ledger_postings p JOIN extra_requests x ON x.request_id = p.reference
    WHERE p.wallet_available_micros IS NOT NULL AND p.kind IN ('settlement', 'adjustment')
      AND (p.posted_at AT TIME ZONE 'UTC')::date > (SELECT (posted_since AT TIME ZONE 'UTC')::date FROM kept) GROUP BY 1
  ), counted_of_keys AS (
    SELECT key_id, month_start, cost_micros - written_off_micros AS counted FROM key_requests
      -- An operator's charge of an unadmitted request does not count for the key.
      WHERE month_start IS NOT NULL
    UNION ALL SELECT key_id, month_start, held_micros FROM uncertain_key_requests
    UNION ALL SELECT key_id, month_start, estimated_micros FROM leases
  ), booked_requests AS (
    -- One posting covers requests of a wallet that were settled together. Each may have been adjusted since.
    SELECT r.posting_id::text AS subject, sum(r.cost_micros) AS cost, sum(r.written_off_micros) AS written_off,
      coalesce(min(b.income), 0) + coalesce(sum(a.income), 0) AS income,
      coalesce(min(b.write_offs), 0) + coalesce(sum(a.write_offs), 0) AS write_offs
    FROM key_requests r LEFT JOIN booked_postings b ON b.id = r.posting_id
    LEFT JOIN booked_postings a ON a.reference = r.request_id AND a.kind = 'adjustment'
    WHERE r.posting_id IS NOT NULL AND (b.posted_at IS NULL OR b.posted_at >= (SELECT posted_since FROM kept)) GROUP BY r.posting_id
    UNION ALL
    SELECT x.request_id, x.cost, x.cost - x.paid, coalesce(sum(b.income), 0), coalesce(sum(b.write_offs), 0)
    FROM extra_requests x LEFT JOIN booked_postings b ON b.reference = x.request_id
    GROUP BY x.request_id, x.cost, x.paid
    UNION ALL SELECT concat('without a request ', b.id), 0, 0, b.income, b.write_offs FROM booked_postings b
    WHERE b.kind = 'settlement' AND coalesce(b.reference, '') NOT LIKE 'lease:%' AND b.posted_at >= (SELECT posted_since FROM kept)
      AND NOT EXISTS (SELECT FROM key_requests r WHERE r.posting_id = b.id)
      AND NOT EXISTS (SELECT FROM extra_requests x WHERE x.request_id = b.reference)
  ), recorded_days AS (
    SELECT concat_ws(' ', svc_user_id, day, client_id, service) AS subject, requests, cost_micros AS cost FROM usage_days
    WHERE day > (SELECT since FROM kept)
  ), settled_days AS (
    SELECT concat_ws(' ', svc_user_id, (created_at AT TIME ZONE 'UTC')::date, client_id, service) AS subject,
      count(*) AS requests, sum(cost_micros) AS cost
    FROM reservations WHERE kind = 'delegated' AND state = 'settled'
      AND (created_at AT TIME ZONE 'UTC')::date > (SELECT since FROM kept) GROUP BY 1
  ), used_wallet_days AS (
    SELECT concat_ws(' ', p.svc_user_id, (p.posted_at AT TIME ZONE 'UTC')::date) AS subject, -sum(p.wallet_available_micros) AS paid
    FROM ledger_postings p
    WHERE p.wallet_available_micros IS NOT NULL AND p.kind NOT IN ('top_up', 'refund') AND NOT coalesce(p.reference, '') LIKE ANY ('{refund:%,reversal:%,dispute:%}')
    GROUP BY 1
  ), budgeted AS (
    SELECT concat_ws(' ', b.svc_user_id, b.client_id) AS subject, b.held_micros, b.uncertain_micros, b.used_micros,
      b.total_used_micros, b.limited_since, b.window_start,
      coalesce(sum(coalesce(r.budget_micros, r.estimate_micros)) FILTER (WHERE w.is_current AND r.state = 'reserved'), 0) AS held,
      coalesce(sum(coalesce(r.budget_micros, r.estimate_micros)) FILTER (WHERE w.is_current AND r.state = 'uncertain'), 0)
        AS uncertain,
      coalesce(sum(r.budget_micros) FILTER (WHERE w.is_current AND r.state = 'settled'), 0) AS used,
      coalesce(sum(r.cost_micros) FILTER (WHERE w.is_current), 0) AS cost,
      coalesce(sum(r.budget_micros) FILTER (WHERE r.created_at > b.limited_since AND r.state = 'settled'), 0) AS total
    FROM app_budgets b LEFT JOIN reservations r ON r.svc_user_id = b.svc_user_id AND r.client_id = b.client_id
    CROSS JOIN LATERAL (SELECT CASE b.period WHEN 'week' THEN b.window_start = r.week_start
      WHEN 'month' THEN b.window_start = r.month_start ELSE r.created_at > b.limited_since END AS is_current) AS w
    WHERE b.limit_micros IS NOT NULL GROUP BY b.svc_user_id, b.client_id
  )`;

/** Lists running totals that differ from their sources, as of one instant; at most `limit`. */
export const listDiscrepancies = async (database: Knex, limit: number): Promise<Discrepancy[]> => {
  const parts = Object.entries(CHECKS).map(
    ([total, query]) => `SELECT '${total}' AS total, t.* FROM (${query}) AS t (subject, recorded, derived)`,
  );
  const { rows } = await database.raw<{ rows: Discrepancy[] }>(
    `${SOURCES}
    SELECT total, subject, recorded::bigint AS recorded, derived::bigint AS derived
    FROM (${parts.join(' UNION ALL ')}) AS totals WHERE recorded <> derived ORDER BY total, subject LIMIT ?`,
    [limit],
  );
  return rows;
};

/** Maximum number of listed discrepancies. So many would have a common cause. */
const DISCREPANCIES_MAX = 100;

/**
 * Recomputes every running total from its source and returns the discrepancies. Postings must sum to zero, wallet
 * balances must equal their books, and each cost must be booked once. Holds of wallets must equal those of their leases,
 * uncertain requests and extra use; counters of accounts, ceilings and keys their requests. Reads one snapshot and writes
 * nothing, so it can run on a live system at any time.
 */
export const checkBalances = (database: Knex): Promise<Discrepancy[]> =>
  database.transaction((trx) => listDiscrepancies(trx, DISCREPANCIES_MAX), { readOnly: true });
