import type { Metrics } from '@svc/service-kit';
import type { Work } from './job.ts';

/** Metrics of periodic work. */
export interface JobMeters {
  readonly failed: (work: Work, reason: string) => void;
  readonly deferred: (items: ReadonlyMap<Work, number>) => void;
}

/** Work that has items. All have a sample from the start, so that an alert sees the first failure. */
const WORK_WITH_ITEMS: readonly Work[] = [
  'account_endings',
  'automatic_charges',
  'automatic_top_ups',
  'checkouts',
  'events',
  'invoices',
  'refunds',
  'seats',
  'subscriptions',
];

export const createJobMeters = (metrics: Metrics): JobMeters => {
  const failures = metrics.counter({
    name: 'billing_work_failures_total',
    help: 'Items of periodic work that failed and were put back, and whole runs that failed (reason `run`).',
    labelNames: ['work', 'reason'],
  });
  const deferred = metrics.gauge({
    name: 'billing_deferred_items',
    help: 'Items of periodic work that have failed at least three times in a row.',
    labelNames: ['work'],
  });
  return {
    failed: (work, reason) => failures.inc({ work, reason }),
    deferred: (items) => {
      for (const work of WORK_WITH_ITEMS) deferred.set({ work }, items.get(work) ?? 0);
    },
  };
};
