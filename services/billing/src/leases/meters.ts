import type { LeaseDecision } from '@svc/contracts';
import type { Metrics } from '@svc/service-kit';

/** Metrics of leases. */
export interface LeaseMeters {
  readonly decision: (verdict: LeaseDecision['verdict']) => void;
  readonly busy: () => void;
  readonly recall: (outcome: 'answered' | 'silent') => void;
  readonly lost: (count: number) => void;
}

export const createLeaseMeters = (metrics: Metrics): LeaseMeters => {
  const decisions = metrics.counter({
    name: 'billing_lease_decisions_total',
    help: 'Decisions on API-key requests that no lease covered.',
    labelNames: ['verdict'],
  });
  const busy = metrics.counter({
    name: 'billing_leases_busy_total',
    help: 'Leases that were not decided on because their wallet was locked. The gateway asks again.',
  });
  const recalls = metrics.counter({
    name: 'billing_lease_recalls_total',
    help: 'Recalls of leases from gateway processes.',
    labelNames: ['outcome'],
  });
  const lost = metrics.counter({
    name: 'billing_leases_lost_total',
    help: 'Leases that ended because their gateway process fell silent.',
  });
  for (const outcome of ['answered', 'silent'] as const) recalls.inc({ outcome }, 0);
  busy.inc(0);
  lost.inc(0);
  return {
    decision: (verdict) => decisions.inc({ verdict }),
    busy: () => busy.inc(),
    recall: (outcome) => recalls.inc({ outcome }),
    lost: (count) => lost.inc(count),
  };
};
