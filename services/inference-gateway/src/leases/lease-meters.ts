import type { Metrics } from '@svc/service-kit';

/** Metrics of leases. Returns the count of decisions; `count` reads how many leases there are. */
export const createLeaseMeters = (metrics: Metrics, count: () => number): ((by: 'memory' | 'billing') => void) => {
  metrics.gauge({ name: 'gateway_leases', help: 'Leases of API keys that this process has.', read: count });
  const decisions = metrics.counter({
    name: 'gateway_lease_decisions_total',
    help: 'Decisions on API-key requests: in memory from a lease, or by a call to billing.',
    labelNames: ['by'],
  });
  for (const by of ['memory', 'billing'] as const) decisions.inc({ by }, 0);
  return (by) => decisions.inc({ by });
};
