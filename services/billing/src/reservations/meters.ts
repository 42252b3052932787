import type { Metrics } from '@svc/service-kit';
import type { AdmissionVerdict, SettlementEffect } from './reservation.ts';

/** Metrics of admission and settlement. */
export interface ReservationMeters {
  readonly admission: (verdict: AdmissionVerdict) => void;
  readonly settlement: (effect: SettlementEffect, source: SettlementSource) => void;
  readonly settledAtEstimate: (count: number) => void;
  readonly unadmittedUsage: (count: number) => void;
  readonly writtenOff: (micros: number) => void;
  readonly open: (counts: { reserved: number; uncertain: number }) => void;
}

/** Source of a reported outcome. */
export type SettlementSource = 'call' | 'fact' | 'sweep' | 'operator';

export const createReservationMeters = (metrics: Metrics): ReservationMeters => {
  const admissions = metrics.counter({
    name: 'billing_admissions_total',
    help: 'Admission decisions on delegated requests.',
    labelNames: ['verdict'],
  });
  const settlements = metrics.counter({
    name: 'billing_settlements_total',
    help: 'Reported outcomes by effect. An operator should investigate `conflict` and `unknown`.',
    labelNames: ['effect', 'source'],
  });
  const estimates = metrics.counter({
    name: 'billing_settled_at_estimate_total',
    help: 'Requests settled at their estimate because their usage never arrived.',
  });
  const unadmitted = metrics.counter({
    name: 'billing_unadmitted_usage_total',
    help: 'Usage reports of requests that were never admitted.',
  });
  const writtenOff = metrics.counter({
    name: 'billing_written_off_micros_total',
    help: 'Cost of requests that neither the wallet nor their limits covered, in micros.',
  });
  const open = metrics.gauge({
    name: 'billing_open_reservations',
    help: 'Reservations that have not ended.',
    labelNames: ['state'],
  });
  // Alerts need these counters to start at zero: Prometheus sees no increase in a counter that first appears at one.
  for (const effect of ['conflict', 'unknown'] as const) {
    for (const source of ['call', 'fact'] as const) settlements.inc({ effect, source }, 0);
  }
  return {
    admission: (verdict) => admissions.inc({ verdict }),
    settlement: (effect, source) => settlements.inc({ effect, source }),
    settledAtEstimate: (count) => estimates.inc(count),
    unadmittedUsage: (count) => unadmitted.inc(count),
    writtenOff: (micros) => writtenOff.inc(micros),
    open: ({ reserved, uncertain }) => {
      open.set({ state: 'reserved' }, reserved);
      open.set({ state: 'uncertain' }, uncertain);
    },
  };
};
