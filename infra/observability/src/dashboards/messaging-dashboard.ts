import type { Dashboard } from './dashboard.ts';
import { errorBudget, quantile, single } from './dashboard.ts';

export const messaging: Dashboard = {
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
        single(
          'Fill of streams',
          'percentunit',
          'max by (stream) (stream_bytes) / max by (stream) (stream_bytes_max)',
          '{{stream}}',
        ),
        single('Messages waiting', 'short', 'max by (consumer) (messages_waiting)', '{{consumer}}'),
        single('Dead letters', 'short', 'max by (consumer) (dead_letters_unresolved)', '{{consumer}}'),
        single('Hearing of revocations', 'short', 'min by (service) (revocations_connected)', '{{service}}'),
        single(
          'Paused consumers',
          'short',
          'max by (consumer, requirement) (consumer_paused)',
          '{{consumer}}: {{requirement}}',
        ),
        single(
          'Credentials accepted unchecked',
          'reqps',
          'sum by (service) (rate(revocations_unchecked_total[5m]))',
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
        single('Blocked webhooks', 'short', 'max(webhook_blocked_lanes)', 'webhooks'),
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
        single('Mails waiting', 'short', 'max(auth_mails_waiting)', 'mails'),
        single('Mails a minute', 'short', '60 * sum by (outcome) (rate(auth_mails_total[5m]))', '{{outcome}}'),
        single('Reported apps waiting', 'short', 'max(auth_reported_apps_waiting)', 'apps'),
        single('Failing work of auth', 'short', 'max by (work) (auth_work_items_failing)', '{{work}}'),
      ],
    },
  ],
};
