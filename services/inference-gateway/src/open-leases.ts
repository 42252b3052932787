import type { Lifecycle, Metrics } from '@svc/service-kit';
import { createLimitReporter, type LimitReporterDeps } from './api-keys/index.ts';
import type { BillingClient } from './billing-client.ts';
import type { Config } from './config.ts';
import { createLeaseClock, LeaseBook } from './leases/index.ts';

export interface LeasesOptions extends Omit<LimitReporterDeps, 'billing'> {
  readonly config: Pick<Config, 'ADMISSION_TIMEOUT_MS'>;
  readonly metrics: Metrics;
  readonly billing: Pick<BillingClient, 'askLeases' | 'keySpending'>;
  readonly holder: { readonly id: string };
}

/** Opens the leases of this process. The lifecycle gives them back. */
export const openLeases = (life: Lifecycle, options: LeasesOptions): LeaseBook => {
  const { config, metrics, billing, holder } = options;
  const reporter = createLimitReporter(options);
  life.onStop('reached limits of keys', reporter.stop);
  const leases = new LeaseBook({
    askLeases: (asks) => billing.askLeases(holder.id, asks),
    deadlineMs: config.ADMISSION_TIMEOUT_MS,
    monotonicMs: createLeaseClock(),
    metrics,
    onRefused: ({ caller, request: { requestId } }, { verdict, resets_at: resetsAt }) => {
      if (verdict !== 'key_monthly_limit_exceeded' || resetsAt === undefined) return;
      reporter.refused({ caller, requestId, resetsAt });
    },
  });
  life.onStop('leases', () => leases.stop());
  return leases;
};
