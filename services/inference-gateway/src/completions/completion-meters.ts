import type { Metrics } from '@svc/service-kit';

/** Counters that operators watch. */
export interface CompletionMeters {
  readonly implausibleUsage: ReturnType<Metrics['counter']>;
}

/** Registers the counters. */
export const createCompletionMeters = (metrics: Metrics): CompletionMeters => ({
  implausibleUsage: metrics.counter({
    name: 'upstream_usage_implausible_total',
    help: 'Answers whose provider reported counts that cannot be true; they were charged by their bytes.',
    labelNames: ['route'],
  }),
});
