import { BUDGET_LEFT } from '../objectives/burn-rate-rules.ts';
import type { Dashboard, Panel } from './dashboard.ts';

/** Excludes probes and scrapes, which are not callers' requests. */
const NOT_PROBES = 'operation!~"healthz|readyz|metrics"';
const BY_OPERATION = '{{service}} {{operation}}';

const quantile = (q: number, by: string, series: string): string =>
  `histogram_quantile(${q}, sum by (${by}, le) (rate(${series}[5m])))`;

const single = (title: string, unit: Panel['unit'], expr: string, legend: string): Panel => ({
  title,
  unit,
  queries: [{ expr, legend }],
});

/** First row of each dashboard: the objectives that concern it. */
const errorBudget = (objectives: string): Dashboard['rows'][number] => {
  const query = (series: string) => [{ expr: `${series}{objective=~"${objectives}"}`, legend: '{{objective}}' }];
  return {
    title: 'Error budget',
    panels: [
      {
        title: 'Left of 30 days',
        description: '0 % means that the objective is missed: docs/objectives.md.',
        unit: 'percentunit',
        queries: query(BUDGET_LEFT),
      },
      {
        title: 'Burn rate, 1 hour',
        description: '1 spends the budget in 30 days; above 14.4 an alert pages.',
        unit: 'short',
        queries: query('svc:objective:burn_rate1h'),
      },
      {
        title: 'Burn rate, 3 days',
        description: 'Above 1 the objective will be missed.',
        unit: 'short',
        queries: query('svc:objective:burn_rate3d'),
      },
    ],
  };
};

const overview: Dashboard = {
  uid: 'overview',
  title: 'svc: overview',
  rows: [
    errorBudget('.+'),
    {
      title: 'Requests',
      panels: [
        single('Requests', 'reqps', `sum by (service) (rate(http_requests_total{${NOT_PROBES}}[5m]))`, '{{service}}'),
        single(
          'Share of 5xx',
          'percentunit',
          `sum by (service) (rate(http_requests_total{status=~"5..", ${NOT_PROBES}}[5m])) / sum by (service) (rate(http_requests_total{${NOT_PROBES}}[5m]))`,
          '{{service}}',
        ),
        {
          title: 'Duration',
          description: 'Streams count with their whole length.',
          unit: 's',
          queries: [0.5, 0.99].map((q) => ({
            expr: quantile(q, 'service', `http_request_duration_seconds_bucket{${NOT_PROBES}}`),
            legend: `{{service}} p${q * 100}`,
          })),
        },
      ],
    },
    {
      title: 'By route',
      panels: [
        single(
          'Requests',
          'reqps',
          `topk(15, sum by (service, operation) (rate(http_requests_total{${NOT_PROBES}}[5m])))`,
          BY_OPERATION,
        ),
        single(
          'Refused and failed',
          'reqps',
          `topk(15, sum by (service, operation, status) (rate(http_requests_total{status=~"[45]..", ${NOT_PROBES}}[5m])))`,
          `${BY_OPERATION} {{status}}`,
        ),
        single(
          'Duration, 99th percentile',
          's',
          `topk(15, ${quantile(0.99, 'service, operation', `http_request_duration_seconds_bucket{${NOT_PROBES}}`)})`,
          BY_OPERATION,
        ),
      ],
    },
    {
      title: 'Processes',
      panels: [
        single('Instances', 'short', 'count by (job) (up{namespace="svc"} == 1)', '{{job}}'),
        single('CPU', 'percentunit', 'sum by (service) (rate(process_cpu_seconds_total[5m]))', '{{service}}'),
        single('Memory, largest process', 'bytes', 'max by (service) (process_resident_memory_bytes)', '{{service}}'),
        single('Event loop delay, p99', 's', 'max by (service) (nodejs_eventloop_lag_p99_seconds)', '{{service}}'),
        single('File descriptors', 'short', 'max by (service) (process_open_fds)', '{{service}}'),
        single(
          'Restarts in an hour',
          'short',
          'sum by (service) (changes(process_start_time_seconds[1h]))',
          '{{service}}',
        ),
      ],
    },
  ],
};

const inference: Dashboard = {
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
        single(
          'Decisions',
          'reqps',
          'sum by (kind, verdict) (rate(billing_admissions_total[5m]))',
          '{{kind}} {{verdict}}',
        ),
        {
          title: 'Duration of an admission',
          unit: 's',
          queries: [0.5, 0.99].map((q) => ({
            expr: quantile(
              q,
              'service',
              'http_request_duration_seconds_bucket{service="billing", operation=~"admitRequest|admitRequests"}',
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
              expr: 'sum by (kind) (increase(billing_held_requests_ended_total[1h]))',
              legend: 'requests ended in an hour: {{kind}}',
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
        single('Mismatched payments of the last day', 'short', 'max(billing_mismatched_payments)', 'checkouts'),
      ],
    },
  ],
};

const messaging: Dashboard = {
  uid: 'messaging',
  title: 'svc: facts, revocations and webhooks',
  rows: [
    errorBudget('token-.+|webhook-.+'),
    {
      title: 'Outboxes',
      panels: [
        single('Rows not yet published', 'short', 'max by (service) (outbox_unpublished)', '{{service}}'),
        single('Age of the oldest', 's', 'max by (service) (outbox_oldest_unpublished_seconds)', '{{service}}'),
        {
          title: 'Published',
          unit: 'short',
          queries: [
            { expr: 'sum by (stream) (rate(outbox_published_total[5m]))', legend: '{{stream}} per second' },
            { expr: 'sum by (stream) (rate(outbox_republished_total[5m]))', legend: '{{stream}} again' },
          ],
        },
        single('Relays', 'short', 'sum by (service) (outbox_relay_leading)', '{{service}}'),
        single('Epochs begun in a day', 'short', 'max by (service) (outbox_epochs_recent)', '{{service}}'),
      ],
    },
    {
      title: 'Consumers and revocations',
      panels: [
        single(
          'Messages',
          'reqps',
          'sum by (consumer, outcome) (rate(messages_consumed_total[5m]))',
          '{{consumer}} {{outcome}}',
        ),
        single(
          'Facts dropped as too old, per hour',
          'short',
          'sum by (consumer) (increase(facts_dropped_total[1h]))',
          '{{consumer}}',
        ),
        single('Messages waiting', 'short', 'max by (consumer) (messages_waiting)', '{{consumer}}'),
        single('Dead letters', 'short', 'max by (consumer) (dead_letters_unresolved)', '{{consumer}}'),
        single(
          'Hearing of revocations',
          'short',
          'min by (service) (revocations_connected{service!="auth"})',
          '{{service}}',
        ),
        single('Revocations in memory', 'short', 'max by (service) (revocations_kept{service!="auth"})', '{{service}}'),
      ],
    },
    {
      title: 'Webhooks',
      panels: [
        single('Attempts', 'reqps', 'sum by (outcome) (rate(webhook_attempts_total[5m]))', '{{outcome}}'),
        {
          title: 'Duration of an attempt',
          unit: 's',
          queries: [0.5, 0.95].map((q) => ({
            expr: quantile(q, 'outcome', 'webhook_attempt_duration_seconds_bucket'),
            legend: `{{outcome}} p${q * 100}`,
          })),
        },
        single('Longest due', 's', 'max(webhook_oldest_due_seconds)', 'oldest lane'),
        single('Blocked apps', 'short', 'max(webhook_blocked_apps)', 'apps'),
        single('Attempts under way', 'short', 'sum(webhook_attempts_in_flight)', 'attempts'),
        single('Connections to receivers', 'short', 'sum(webhook_receiver_sockets)', 'sockets'),
      ],
    },
    {
      title: 'Accounts',
      panels: [
        single(
          'Sign-ins by status',
          'reqps',
          'sum by (status) (rate(http_requests_total{service="auth", operation="createSession"}[5m]))',
          '{{status}}',
        ),
        single(
          'Grants ended by reuse, per hour',
          'short',
          'sum(increase(auth_grants_ended_by_reuse_total[1h]))',
          'grants',
        ),
        single('Suspensions waiting', 'short', 'max(auth_suspensions_waiting)', 'apps'),
      ],
    },
  ],
};

export const dashboards: readonly Dashboard[] = [overview, inference, messaging];
