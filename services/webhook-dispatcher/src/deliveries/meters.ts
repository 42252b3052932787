import type { Metrics } from '@svc/service-kit';

/** What is counted of deliveries. */
export interface DeliveryMeters {
  attempted(outcome: 'delivered' | 'retry' | 'failed' | 'lease_lost', durationMs: number): void;
}

const ATTEMPT_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Makes the meters; `inUse` and `openSockets` are read at each scrape. */
export function createDeliveryMeters(
  metrics: Metrics,
  read: { inUse: () => number; openSockets: () => number },
): DeliveryMeters {
  const outcomes = metrics.counter({
    name: 'webhook_attempts_total',
    help: 'Delivery attempts by what they came to; lease_lost ones are repeated by another worker.',
    labelNames: ['outcome'],
  });
  const seconds = metrics.histogram({
    name: 'webhook_attempt_duration_seconds',
    help: 'Seconds from the look-up to the end of the receiver’s answer.',
    labelNames: ['outcome'],
    buckets: ATTEMPT_SECONDS,
  });
  metrics.gauge({ name: 'webhook_attempts_in_flight', help: 'Lanes under way in this process.', read: read.inUse });
  metrics.gauge({ name: 'webhook_receiver_sockets', help: 'Open connections to receivers.', read: read.openSockets });
  return {
    attempted(outcome, durationMs) {
      outcomes.inc({ outcome });
      seconds.observe({ outcome }, durationMs / 1_000);
    },
  };
}
