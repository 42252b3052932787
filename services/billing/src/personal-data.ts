import { internalRoutes } from '@svc/contracts';
import { auditLogSection, type ExportSection, streamSections } from '@svc/database';
import { type Binding, bind, sendJsonStream } from '@svc/service-kit';

/** Data about an organization and its members, whom it names by their ids. */
const ORGANIZATION_SECTIONS: readonly ExportSection[] = [
  {
    name: 'seat_orders',
    sql: `SELECT id, status, plan_id, quantity, current_period_start, current_period_end, cancel_at_period_end, past_due_since,
      ended_at, created_at FROM seat_orders WHERE svc_user_id = $1 ORDER BY created_at, id`,
  },
  {
    name: 'seats',
    sql: `SELECT order_id, svc_user_id AS member_id, assigned_at, ended_at FROM seats WHERE organization_id = $1
      ORDER BY assigned_at, subscription_id`,
  },
  {
    name: 'seat_usage_days',
    sql: `SELECT day, svc_user_id AS member_id, cost_micros FROM seat_usage_days WHERE organization_id = $1 ORDER BY day, svc_user_id`,
  },
  {
    name: 'member_limits',
    sql: `SELECT member_id, monthly_limit_micros FROM member_limits WHERE svc_user_id = $1 ORDER BY member_id`,
  },
  {
    name: 'member_usage_days',
    sql: `SELECT day, member_id, requests, paid_micros FROM member_usage_days WHERE svc_user_id = $1 ORDER BY day, member_id`,
  },
];

/** Data of billing about a person. */
export const SECTIONS: readonly ExportSection[] = [
  {
    name: 'subscriptions',
    sql: `SELECT s.id, s.status, s.plan_id, s.current_period_start, s.current_period_end, s.cancel_at_period_end, s.past_due_since,
      s.ended_at, s.created_at, s.updated_at, seats.organization_id AS paid_by_organization_id
      FROM subscriptions AS s LEFT JOIN seats ON seats.subscription_id = s.id WHERE s.svc_user_id = $1 ORDER BY s.created_at`,
  },
  {
    name: 'limits',
    sql: `SELECT status, plan_id, period_start, period_end, week_start, week_end, week_used_micros, month_start, month_end,
      month_used_micros FROM accounts WHERE svc_user_id = $1`,
  },
  {
    name: 'app_budgets',
    sql: `SELECT client_id, is_paused, limit_micros, period, expires_at, limited_since, used_micros, total_used_micros
      FROM app_budgets WHERE svc_user_id = $1 ORDER BY client_id`,
  },
  {
    name: 'extra_usage',
    sql: `SELECT is_enabled, monthly_max_micros, month_start, used_micros, held_micros FROM extra_usage WHERE svc_user_id = $1`,
  },
  {
    name: 'alert_settings',
    sql: `SELECT thresholds_percent, wallet_below_micros FROM alert_settings WHERE svc_user_id = $1`,
  },
  {
    name: 'usage_days',
    sql: `SELECT day, client_id, service, requests, cost_micros FROM usage_days WHERE svc_user_id = $1 ORDER BY day, client_id, service`,
  },
  {
    name: 'requests',
    sql: `SELECT request_id, client_id, service, state, cost_micros,
      CASE WHEN extra_month IS NULL THEN 'plan' ELSE 'wallet' END AS paid_by, created_at, ended_at FROM reservations
      WHERE svc_user_id = $1 ORDER BY created_at, request_id`,
  },
  {
    name: 'key_requests',
    sql: `SELECT request_id, key_id, state, cost_micros, created_at, ended_at FROM key_requests
      WHERE svc_user_id = $1 ORDER BY id`,
  },
  {
    name: 'uncertain_key_requests',
    sql: `SELECT request_id, key_id, held_micros, uncertain_at FROM uncertain_key_requests
      WHERE svc_user_id = $1 ORDER BY request_id`,
  },
  {
    name: 'leases',
    sql: `SELECT lease_id, key_id, granted_micros, returned_micros, settled_micros, reported_at, ended_at FROM leases
      WHERE svc_user_id = $1 ORDER BY lease_id`,
  },
  {
    name: 'wallets',
    sql: `SELECT currency, balance_micros, held_micros, created_at FROM wallets WHERE svc_user_id = $1`,
  },
  {
    name: 'automatic_top_up',
    sql: `SELECT is_enabled, below_micros, amount_micros, monthly_max_micros FROM auto_top_ups WHERE svc_user_id = $1`,
  },
  {
    name: 'payments',
    sql: `SELECT id, kind, plan_id, status, paid_micros, paid_currency, is_automatic, created_at, completed_at
      FROM checkout_sessions WHERE svc_user_id = $1 ORDER BY created_at, id`,
  },
  {
    name: 'refunds',
    sql: `SELECT id, session_id, amount_micros, state, created_at, ended_at FROM wallet_refunds WHERE svc_user_id = $1 ORDER BY created_at, id`,
  },
  {
    name: 'reversals',
    sql: `SELECT session_id, kind, amount_micros, updated_at FROM payment_reversals WHERE svc_user_id = $1 ORDER BY updated_at`,
  },
  {
    name: 'ledger',
    sql: `SELECT p.id, p.kind, p.reference, p.currency, p.posted_at, e.book, e.amount_micros
      FROM ledger_postings AS p JOIN ledger_entries AS e ON e.posting_id = p.id WHERE p.svc_user_id = $1 ORDER BY p.id, e.book`,
  },
  {
    name: 'payment_provider',
    sql: `SELECT customer_id FROM stripe_customers WHERE svc_user_id = $1`,
  },
  ...ORGANIZATION_SECTIONS,
  auditLogSection,
];

/** Hands over what the service holds about a person. */
export const personalDataRoutes = (database: Parameters<typeof streamSections>[0]): Binding[] => [
  bind(internalRoutes.exportBillingData, (context) =>
    sendJsonStream(context, (write) => streamSections(database, SECTIONS, { id: context.params.svc_user_id, write })),
  ),
];
