import type { Metrics } from '@svc/service-kit';
import type { AdmissionVerdict, SettlementEffect } from './reservation.ts';

/** What is counted of admission and settlement. */
export interface ReservationMeters {
  admission(kind: 'delegated' | 'api_key', verdict: AdmissionVerdict): void;
  settlement(effect: SettlementEffect, source: SettlementSource): void;
  /** Alerts: settled without knowing the true usage, or usage of a request that nobody admitted. */
  settledAtEstimate(count: number): void;
  unadmittedUsage(count: number): void;
  open(counts: { reserved: number; uncertain: number }): void;
}

/** Who told of an outcome. */
export type SettlementSource = 'call' | 'fact' | 'sweep' | 'operator';

/** Binds the meters of this slice to the service's registry. */
export const createReservationMeters = (metrics: Metrics): ReservationMeters => {
  const admissions = metrics.counter({
    name: 'billing_admissions_total',
    help: 'Admission decisions.',
    labelNames: ['kind', 'verdict'],
  });
  const settlements = metrics.counter({
    name: 'billing_settlements_total',
    help: 'Outcomes told, by what they changed; conflict and unknown want a look.',
    labelNames: ['effect', 'source'],
  });
  const estimates = metrics.counter({
    name: 'billing_settled_at_estimate_total',
    help: 'Requests settled at their estimate, as their usage never came.',
  });
  const unadmitted = metrics.counter({
    name: 'billing_unadmitted_usage_total',
    help: 'Usage told of requests that were never admitted.',
  });
  const open = metrics.gauge({
    name: 'billing_open_reservations',
    help: 'Reservations that have not ended.',
    labelNames: ['state'],
  });
  // A counter that appears with its first count has not grown, as Prometheus sees it: what one alerts of begins at zero.
  for (const effect of ['conflict', 'unknown'] as const) {
    for (const source of ['call', 'fact'] as const) settlements.inc({ effect, source }, 0);
  }
  return {
    admission: (kind, verdict) => admissions.inc({ kind, verdict }),
    settlement: (effect, source) => settlements.inc({ effect, source }),
    settledAtEstimate: (count) => estimates.inc(count),
    unadmittedUsage: (count) => unadmitted.inc(count),
    open: ({ reserved, uncertain }) => {
      open.set({ state: 'reserved' }, reserved);
      open.set({ state: 'uncertain' }, uncertain);
    },
  };
};
