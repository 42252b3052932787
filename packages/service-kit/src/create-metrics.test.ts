import { expect, test } from 'vitest';
import { createMetrics } from './create-metrics.ts';

test('renders counters, gauges and histograms beside the process metrics, labeled with the service', async () => {
  const metrics = createMetrics('billing');
  metrics
    .counter({ name: 'settlements_total', help: 'Settled.', labelNames: ['outcome'] })
    .inc({ outcome: 'settled' }, 2);
  metrics.gauge({ name: 'outbox_pending', help: 'Waiting.', read: () => 7 });
  metrics.gauge({ name: 'lanes', help: 'Lanes.', labelNames: ['state'] }).set({ state: 'blocked' }, 1);
  metrics.histogram({ name: 'admission_seconds', help: 'Seconds.', buckets: [0.1, 1] }).observe(0.5);
  const { body } = await metrics.render();
  expect(body).toContain('settlements_total{outcome="settled",service="billing"} 2');
  expect(body).toContain('outbox_pending{service="billing"} 7');
  expect(body).toContain('lanes{state="blocked",service="billing"} 1');
  expect(body).toContain('admission_seconds_bucket{le="1",service="billing"} 1');
  expect(body).toContain('process_resident_memory_bytes');
});

test('returns the same metric for a repeated name and separate metrics per service', async () => {
  const metrics = createMetrics('billing');
  const options = { name: 'runs_total', help: 'Runs.' };
  metrics.counter(options).inc();
  metrics.counter(options).inc();
  expect((await metrics.render()).body).toContain('runs_total{service="billing"} 2');
  expect((await createMetrics('auth').render()).body).not.toContain('runs_total');
});

test('counts an unknown method as "other"', async () => {
  const metrics = createMetrics('auth');
  metrics.observeRequest({ operation: 'unmatched', method: 'CANARY', status: 405, seconds: 0.01 });
  expect((await metrics.render()).body).toContain(
    'http_requests_total{operation="unmatched",method="other",status="405",service="auth"} 1',
  );
});
