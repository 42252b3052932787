import type { SubscriptionStatus } from '@svc/contracts';
import { monthlyAnniversary } from '../../reservations/index.ts';

/** A subscription as the sandbox keeps it. */
export interface SandboxSubscription {
  readonly id: string;
  readonly customer: string;
  readonly planId: string;
  readonly interval: 'month' | 'year';
  readonly status: SubscriptionStatus;
  readonly anchor: Date;
  readonly periodStart: Date;
  readonly periodEnd: Date;
  readonly cancelAtPeriodEnd: boolean;
  readonly endedAt: Date | null;
  /** Ended at once by billing, which gave the money back. */
  readonly wasReverted: boolean;
}

/** A hosted checkout as the sandbox keeps it. */
export interface SandboxSession {
  readonly id: string;
  readonly customer: string;
  readonly description: string;
  readonly planId: string | null;
  readonly interval: 'month' | 'year' | null;
  readonly amountMicros: number;
  readonly currency: string;
  readonly successUrl: string;
  readonly cancelUrl: string;
  readonly status: 'open' | 'complete' | 'expired';
  readonly subscriptionId: string | null;
  readonly wasDeclined: boolean;
}

/** A visit to the hosted portal. */
export interface SandboxPortal {
  readonly id: string;
  readonly customer: string;
  readonly returnUrl: string;
}

const ENDED: ReadonlySet<SubscriptionStatus> = new Set(['canceled', 'unpaid', 'incomplete_expired']);

/** Whether nobody pays for this state any more. */
export const hasEnded = (status: SubscriptionStatus): boolean => ENDED.has(status);

/** States that nothing leads out of. */
export const isFinal = (status: SubscriptionStatus): boolean =>
  status === 'canceled' || status === 'incomplete_expired';

/** The paid period that contains `at`: anniversaries of the anchor, by month or by year. */
export const periodAt = (anchor: Date, interval: 'month' | 'year', at: Date): { start: Date; end: Date } => {
  const step = interval === 'year' ? 12 : 1;
  const months = (at.getUTCFullYear() - anchor.getUTCFullYear()) * 12 + at.getUTCMonth() - anchor.getUTCMonth();
  const steps = Math.floor(months / step);
  const begun = monthlyAnniversary(anchor, steps * step) > at ? steps - 1 : steps;
  return { start: monthlyAnniversary(anchor, begun * step), end: monthlyAnniversary(anchor, (begun + 1) * step) };
};

/** A paid subscription at the end of its period: renewed, or ended where that was asked for. */
export const renew = (subscription: SandboxSubscription, at: Date): SandboxSubscription => {
  if (subscription.cancelAtPeriodEnd) return { ...subscription, status: 'canceled', endedAt: subscription.periodEnd };
  const { start, end } = periodAt(subscription.anchor, subscription.interval, at);
  return { ...subscription, status: 'active', periodStart: start, periodEnd: end };
};
