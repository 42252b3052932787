import type { Metrics } from '@svc/service-kit';

export interface DeliveryMeters {
  readonly attempted: (outcome: 'delivered' | 'retry' | 'failed' | 'lease_lost', durationMs: number) => void;
}

const ATTEMPT_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export interface DeliveryReadings {
  readonly inUse: () => number;
  readonly openSockets: () => number;
  readonly laneHealth: () => Promise<{ blocked: number; oldestDueSeconds: number }>;
}

export const createDeliveryMeters = (metrics: Metrics, read: DeliveryReadings): DeliveryMeters => {
  const outcomes = metrics.counter({
    name: 'webhook_attempts_total',
    help: 'Delivery attempts by outcome; another worker repeats those with lease_lost.',
    labelNames: ['outcome'],
  });
  const seconds = metrics.histogram({
    name: 'webhook_attempt_duration_seconds',
    help: 'Seconds from the DNS look-up to the end of the receiver’s answer.',
    labelNames: ['outcome'],
    buckets: ATTEMPT_SECONDS,
  });
  metrics.gauge({ name: 'webhook_attempts_in_flight', help: 'Lanes in delivery in this process.', read: read.inUse });
  metrics.gauge({ name: 'webhook_receiver_sockets', help: 'Open connections to receivers.', read: read.openSockets });
  // If the database is down, the other metrics must still be readable.
  const health = (field: 'blocked' | 'oldestDueSeconds') => () =>
    read.laneHealth().then(
      (found) => found[field],
      () => Number.NaN,
    );
  metrics.gauge({
    name: 'webhook_blocked_lanes',
    help: 'Lanes whose events wait behind a failed one, in the whole service.',
    read: health('blocked'),
  });
  metrics.gauge({
    name: 'webhook_oldest_due_seconds',
    help: 'Waiting time of the lane that has been due the longest, in the whole service.',
    read: health('oldestDueSeconds'),
  });
  // Prometheus sees a counter grow only if it has been 0 before.
  for (const outcome of ['delivered', 'retry', 'failed']) outcomes.inc({ outcome }, 0);
  return {
    attempted(outcome, durationMs) {
      outcomes.inc({ outcome });
      seconds.observe({ outcome }, durationMs / 1_000);
    },
  };
};
