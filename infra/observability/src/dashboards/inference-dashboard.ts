import type { Dashboard } from './dashboard.ts';
import { errorBudget, NOT_PROBES, quantile, single } from './dashboard.ts';

export const inference: Dashboard = {
  uid: 'inference',
  title: 'svc: inference and money',
  rows: [
    errorBudget('admission-.+|inference-.+'),
    {
      title: 'Gateway',
      panels: [
        single(
          'Requests by status',
          'reqps',
          `sum by (status) (rate(http_requests_total{service="inference-gateway", ${NOT_PROBES}}[5m]))`,
          '{{status}}',
        ),
        single(
          'Duration, 90th percentile',
          's',
          quantile(0.9, 'operation', 'http_request_duration_seconds_bucket{service="inference-gateway"}'),
          '{{operation}}',
        ),
        single('Open streams', 'short', 'sum by (kind) (streams_open)', '{{kind}}'),
        single('Requests and streams at providers', 'short', 'sum(upstream_requests_in_flight)', 'under way'),
        {
          title: 'Routes held back',
          unit: 'short',
          queries: [
            { expr: 'max(upstream_routes_paused)', legend: 'paused' },
            { expr: 'sum(increase(upstream_route_pauses_total[1h]))', legend: 'pauses in an hour' },
            { expr: 'sum(rate(upstream_requests_held_back_total[5m]))', legend: 'attempts not sent per second' },
          ],
        },
        single('Large texts waiting for a worker', 'short', 'max(json_tasks_waiting)', 'largest of all gateways'),
        single(
          'Answers with implausible usage, per hour',
          'short',
          'sum by (route) (increase(upstream_usage_implausible_total[1h]))',
          '{{route}}',
        ),
        single(
          'Days until the certifications of routes expire',
          'd',
          'min by (route) (route_certification_expires_seconds) / 86400',
          '{{route}}',
        ),
        single('Usage records waiting', 'short', 'max(usage_records_waiting)', 'largest of all gateways'),
        {
          title: 'Usage records written',
          unit: 'short',
          queries: [
            { expr: 'sum(rate(usage_records_written_total[5m]))', legend: 'records per second' },
            { expr: 'sum(rate(usage_batches_written_total[5m]))', legend: 'transactions per second' },
            { expr: 'sum(rate(usage_records_refused_total[5m]))', legend: 'refused by the database' },
          ],
        },
        {
          title: 'Usage journal',
          unit: 'short',
          queries: [
            { expr: 'sum(rate(usage_journal_failures_total[5m]))', legend: 'failed appends per second' },
            { expr: 'max(usage_journals_left)', legend: 'journals of dead processes' },
            { expr: 'sum(increase(usage_journal_lines_damaged_total[1h]))', legend: 'damaged lines in an hour' },
          ],
        },
      ],
    },
    {
      title: 'Providers',
      panels: [
        single(
          'Duration, 90th percentile',
          's',
          quantile(0.9, 'gen_ai_provider_name', 'gen_ai_client_operation_duration_seconds_bucket'),
          '{{gen_ai_provider_name}}',
        ),
        single(
          'Time to first chunk, 90th percentile',
          's',
          quantile(0.9, 'gen_ai_provider_name', 'gen_ai_client_operation_time_to_first_chunk_seconds_bucket'),
          '{{gen_ai_provider_name}}',
        ),
        single(
          'Tokens per second',
          'short',
          'sum by (gen_ai_request_model, gen_ai_token_type) (rate(gen_ai_client_token_usage_sum[5m]))',
          '{{gen_ai_request_model}} {{gen_ai_token_type}}',
        ),
      ],
    },
    {
      title: 'Admission',
      panels: [
        {
          title: 'Decisions of billing',
          unit: 'reqps',
          queries: [
            { expr: 'sum by (verdict) (rate(billing_admissions_total[5m]))', legend: 'app: {{verdict}}' },
            { expr: 'sum by (verdict) (rate(billing_lease_decisions_total[5m]))', legend: 'key: {{verdict}}' },
          ],
        },
        single(
          'API-key requests, by who decided',
          'reqps',
          'sum by (by) (rate(gateway_lease_decisions_total[5m]))',
          '{{by}}',
        ),
        {
          title: 'Leases of API keys',
          unit: 'short',
          queries: [
            { expr: 'sum(gateway_leases)', legend: 'held by gateways' },
            { expr: 'sum(increase(billing_leases_lost_total[1h]))', legend: 'lost in an hour' },
            {
              expr: 'sum by (outcome) (increase(billing_lease_recalls_total[1h]))',
              legend: 'recalls in an hour: {{outcome}}',
            },
            { expr: 'sum(increase(billing_leases_busy_total[1h]))', legend: 'busy wallets in an hour' },
          ],
        },
        {
          title: 'Duration of an admission',
          unit: 's',
          queries: [0.5, 0.99].map((q) => ({
            expr: quantile(
              q,
              'service',
              'http_request_duration_seconds_bucket{service="billing", operation=~"admitRequests|askLeases"}',
            ),
            legend: `p${q * 100}`,
          })),
        },
        single('Open reservations', 'short', 'max by (state) (billing_open_reservations)', '{{state}}'),
        {
          title: 'Holders',
          unit: 'short',
          queries: [
            { expr: 'max(billing_holders_alive)', legend: 'alive' },
            { expr: 'sum(increase(billing_holders_expired_total[1h]))', legend: 'expired in an hour' },
            {
              expr: 'sum(increase(billing_held_requests_ended_total[1h]))',
              legend: 'delegated requests ended in an hour',
            },
          ],
        },
      ],
    },
    {
      title: 'Settlement',
      panels: [
        single(
          'Outcomes told',
          'reqps',
          'sum by (effect, source) (rate(billing_settlements_total[5m]))',
          '{{effect}} by {{source}}',
        ),
        single(
          'Settled at the estimate, per hour',
          'short',
          'sum(increase(billing_settled_at_estimate_total[1h]))',
          'requests',
        ),
        single('Unadmitted usage, per hour', 'short', 'sum(increase(billing_unadmitted_usage_total[1h]))', 'requests'),
        single('Cost written off, per hour', 'short', 'sum(increase(billing_written_off_micros_total[1h]))', 'micros'),
      ],
    },
    {
      title: 'Payments',
      panels: [
        single(
          'Requests to the provider',
          'reqps',
          'sum by (outcome) (rate(billing_provider_requests_total[5m]))',
          '{{outcome}}',
        ),
        {
          title: 'Events of the provider, per hour',
          unit: 'short',
          queries: [
            { expr: 'sum by (source) (increase(billing_provider_events_total[1h]))', legend: '{{source}}' },
            { expr: 'sum(increase(billing_paid_checkouts_total[1h]))', legend: 'paid checkouts' },
          ],
        },
        {
          title: 'Last word of the provider',
          unit: 'dateTimeFromNow',
          queries: [
            { expr: 'max(billing_provider_last_success_seconds) * 1000', legend: 'answer' },
            { expr: 'max(billing_provider_last_event_seconds) * 1000', legend: 'event' },
          ],
        },
        {
          title: 'Work that fails',
          unit: 'short',
          queries: [
            { expr: 'max by (work) (billing_deferred_items)', legend: '{{work}}: items that keep failing' },
            {
              expr: 'sum by (work, reason) (increase(billing_work_failures_total[1h]))',
              legend: '{{work}}: {{reason}}, per hour',
            },
          ],
        },
        single('Mismatched payments of the last day', 'short', 'max(billing_mismatched_payments)', 'checkouts'),
      ],
    },
  ],
};
