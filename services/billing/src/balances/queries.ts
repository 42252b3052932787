import type { Knex } from 'knex';

/** A running total that differs from the sum of its entries or reservations. */
export interface Discrepancy {
  readonly total: string;
  readonly subject: string;
  readonly recorded: number;
  readonly derived: number;
}

/** Queries the tables of every slice directly, so that the check does not depend on the code it checks. */
const CHECKS: Readonly<Record<string, string>> = {
  posting: `
    SELECT p.id::text AS subject, 0 AS recorded, coalesce(sum(e.amount_micros), 1) AS derived
    FROM ledger_postings p LEFT JOIN ledger_entries e ON e.posting_id = p.id GROUP BY p.id`,
  wallet_balance: `
    SELECT w.svc_user_id, w.balance_micros, coalesce(b.total, 0)
    FROM wallets w LEFT JOIN (
      SELECT svc_user_id, sum(total) AS total FROM books
      WHERE book IN ('wallet_available', 'wallet_held') GROUP BY svc_user_id) b USING (svc_user_id)`,
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
    SELECT w.svc_user_id, w.held_micros, coalesce(r.total, 0)
    FROM wallets w LEFT JOIN (
      SELECT svc_user_id, sum(estimate_micros) AS total FROM reservations
      WHERE kind = 'api_key' AND state IN ('reserved', 'uncertain') GROUP BY svc_user_id) r USING (svc_user_id)`,
  // Holds used to be postings. This book must be empty now.
  held_in_ledger: `
    SELECT svc_user_id, 0, total FROM books WHERE book = 'wallet_held'`,
  booked_cost: `
    SELECT r.request_id, coalesce(r.cost_micros, 0), coalesce(b.total, 0)
    FROM reservations r LEFT JOIN (
      SELECT p.reference, sum(e.amount_micros) AS total FROM ledger_postings p JOIN ledger_entries e ON e.posting_id = p.id
      WHERE e.book IN ('usage', 'income') GROUP BY p.reference) b ON b.reference = r.request_id`,
  written_off: `
    SELECT r.request_id, -r.written_off_micros, coalesce(b.total, 0)
    FROM reservations r LEFT JOIN (
      SELECT p.reference, sum(e.amount_micros) AS total FROM ledger_postings p JOIN ledger_entries e ON e.posting_id = p.id
      WHERE e.book = 'write_offs' GROUP BY p.reference) b ON b.reference = r.request_id`,
  pending: `
    SELECT a.svc_user_id, a.pending, count(r.request_id)
    FROM accounts a LEFT JOIN reservations r ON r.svc_user_id = a.svc_user_id AND r.kind = 'delegated' AND r.state = 'reserved'
    GROUP BY a.svc_user_id`,
  week_used: `
    SELECT a.svc_user_id, a.week_used_micros, coalesce(sum(c.counted), 0)
    FROM accounts a LEFT JOIN counted c ON c.svc_user_id = a.svc_user_id AND c.week_start = a.week_start
    GROUP BY a.svc_user_id`,
  month_used: `
    SELECT a.svc_user_id, a.month_used_micros, coalesce(sum(c.counted), 0)
    FROM accounts a LEFT JOIN counted c ON c.svc_user_id = a.svc_user_id AND c.kind = 'delegated' AND c.month_start = a.month_start
    GROUP BY a.svc_user_id`,
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
  app_held: `
    SELECT subject, held_micros, held FROM budgeted`,
  app_uncertain: `
    SELECT subject, uncertain_micros, uncertain FROM budgeted`,
  app_total_used: `
    SELECT subject, total_used_micros, total FROM budgeted`,
  // Requests made before the limit was set count at their cost, later ones at no more than their hold.
  app_used: `
    SELECT subject, used_micros, least(greatest(used_micros, used), cost) FROM budgeted`,
  key_month_used: `
    SELECT k.key_id, k.month_used_micros, coalesce(sum(c.counted), 0)
    FROM key_budgets k LEFT JOIN counted c ON c.key_id = k.key_id AND c.month_start = k.month_start
    GROUP BY k.key_id`,
};

const SOURCES = `
  WITH books AS (
    SELECT p.svc_user_id, e.book, sum(e.amount_micros) AS total
    FROM ledger_postings p JOIN ledger_entries e ON e.posting_id = p.id GROUP BY p.svc_user_id, e.book
  ), counted AS (
    SELECT kind, svc_user_id, key_id, week_start, month_start,
      CASE state WHEN 'uncertain' THEN estimate_micros ELSE coalesce(cost_micros, 0) - written_off_micros END AS counted
    FROM reservations
  ), recorded_days AS (
    SELECT concat_ws(' ', svc_user_id, day, client_id, service) AS subject, requests, cost_micros AS cost FROM usage_days
  ), settled_days AS (
    SELECT concat_ws(' ', svc_user_id, (created_at AT TIME ZONE 'UTC')::date, client_id, service) AS subject,
      count(*) AS requests, sum(cost_micros) AS cost
    FROM reservations WHERE kind = 'delegated' AND state = 'settled' GROUP BY 1
  ), used_wallet_days AS (
    SELECT concat_ws(' ', p.svc_user_id, (p.posted_at AT TIME ZONE 'UTC')::date) AS subject, -sum(e.amount_micros) AS paid
    FROM ledger_postings p JOIN ledger_entries e ON e.posting_id = p.id AND e.book IN ('wallet_available', 'wallet_held')
    WHERE p.kind NOT IN ('top_up', 'refund') AND NOT p.reference LIKE ANY ('{refund:%,reversal:%,dispute:%}')
    GROUP BY 1
  ), budgeted AS (
    SELECT concat_ws(' ', b.svc_user_id, b.client_id) AS subject, b.held_micros, b.uncertain_micros, b.used_micros,
      b.total_used_micros,
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
