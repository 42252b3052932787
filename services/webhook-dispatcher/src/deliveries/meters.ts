import type { Metrics } from '@svc/service-kit';

/** What is counted of deliveries. */
export interface DeliveryMeters {
  attempted(outcome: 'delivered' | 'retry' | 'failed' | 'lease_lost', durationMs: number): void;
}

const ATTEMPT_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** What is read at each scrape. */
export interface DeliveryReadings {
  readonly inUse: () => number;
  readonly openSockets: () => number;
  readonly laneHealth: () => Promise<{ blockedApps: number; oldestDueSeconds: number }>;
}

/** Makes the meters. */
export const createDeliveryMeters = (metrics: Metrics, read: DeliveryReadings): DeliveryMeters => {
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
  // Without the database there is no value, and the other metrics are still to be read.
  const health = (field: 'blockedApps' | 'oldestDueSeconds') => () =>
    read.laneHealth().then(
      (found) => found[field],
      () => Number.NaN,
    );
  metrics.gauge({
    name: 'webhook_blocked_apps',
    help: 'Apps whose events wait behind a failed one, in the whole service.',
    read: health('blockedApps'),
  });
  metrics.gauge({
    name: 'webhook_oldest_due_seconds',
    help: 'For how long the lane that is due the longest has been waiting, in the whole service.',
    read: health('oldestDueSeconds'),
  });
  // A counter that appears with its first count has not grown, as Prometheus sees it.
  for (const outcome of ['delivered', 'retry', 'failed']) outcomes.inc({ outcome }, 0);
  return {
    attempted(outcome, durationMs) {
      outcomes.inc({ outcome });
      seconds.observe({ outcome }, durationMs / 1_000);
    },
  };
};
