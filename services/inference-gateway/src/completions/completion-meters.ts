import type { Metrics } from '@svc/service-kit';

export interface CompletionMeters {
  readonly implausibleUsage: ReturnType<Metrics['counter']>;
}

export const createCompletionMeters = (metrics: Metrics): CompletionMeters => ({
  implausibleUsage: metrics.counter({
    name: 'upstream_usage_implausible_total',
    help: 'Answers with implausible usage reported by the provider; charged by their bytes instead.',
    labelNames: ['route'],
  }),
});
