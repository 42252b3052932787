import { internalRoutes } from '@svc/contracts';
import { type ApiKeyCaller, type Binding, bind, type Lifecycle, type Metrics } from '@svc/service-kit';
import type { BillingClient } from '../billing-client.ts';
import type { Config } from '../config.ts';
import { LeaseBook } from './lease-book.ts';

export interface LeasesOptions {
  readonly config: Pick<Config, 'ADMISSION_TIMEOUT_MS'>;
  readonly metrics: Metrics;
  readonly billing: Pick<BillingClient, 'askLeases'>;
  readonly holder: { readonly id: string };
  /** Called for each request that billing refuses because of the monthly limit of its key. */
  readonly onLimitReached: (refused: {
    readonly caller: ApiKeyCaller;
    readonly requestId: string;
    readonly resetsAt: string;
  }) => void;
}

/** Opens the leases of this process. The lifecycle gives them back. */
export const openLeases = (life: Lifecycle, options: LeasesOptions): LeaseBook => {
  const { config, metrics, billing, holder, onLimitReached } = options;
  const leases = new LeaseBook({
    askLeases: (asks) => billing.askLeases(holder.id, asks),
    deadlineMs: config.ADMISSION_TIMEOUT_MS,
    monotonicMs: createLeaseClock(),
    metrics,
    onRefused: ({ caller, request: { requestId } }, { verdict, resets_at: resetsAt }) => {
      if (verdict !== 'key_monthly_limit_exceeded' || resetsAt === undefined) return;
      onLimitReached({ caller, requestId, resetsAt });
    },
  });
  life.onStop('leases', () => leases.stop());
  return leases;
};

/** Binds the internal route on which billing recalls leases. */
export const leaseRoutes = ({ leases }: { readonly leases: Pick<LeaseBook, 'recall'> }): readonly Binding[] => [
  bind(internalRoutes.recallLeases, async ({ body }) => ({
    status: 200,
    body: { leases: leases.recall(body.lease_ids) },
  })),
];

/**
 * Creates a clock that never goes back, and counts the time in which the machine was suspended, in milliseconds. The monotonic
 * clock stands still then, while billing ends the leases of this process.
 */
export const createLeaseClock = (
  wallMs: () => number = Date.now,
  monotonicMs: () => number = () => performance.now(),
): (() => number) => {
  let nowMs = 0;
  let lastWallMs = wallMs();
  let lastMonotonicMs = monotonicMs();
  return () => {
    const wall = wallMs();
    const monotonic = monotonicMs();
    nowMs += Math.max(0, wall - lastWallMs, monotonic - lastMonotonicMs);
    lastWallMs = wall;
    lastMonotonicMs = monotonic;
    return nowMs;
  };
};
