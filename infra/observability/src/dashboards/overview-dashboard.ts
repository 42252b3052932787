import type { Dashboard } from './dashboard.ts';
import { BY_OPERATION, errorBudget, NOT_PROBES, quantile, single } from './dashboard.ts';

export const overview: Dashboard = {
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
        {
          title: 'Connections to the database, fullest process',
          unit: 'short',
          queries: [
            { expr: 'max by (service) (database_pool_used / database_pool_max)', legend: '{{service}} share in use' },
            { expr: 'max by (service) (database_pool_waiting)', legend: '{{service}} callers waiting' },
          ],
        },
        single(
          'Days until certificates expire',
          'd',
          'min by (service, peer) (tls_certificate_expires_seconds) / 86400',
          '{{service}}: {{peer}}',
        ),
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
