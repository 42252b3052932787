import type { SandboxCard, SubscriptionStatus } from '@svc/contracts';
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
  readonly card: SandboxCard;
  /** What it becomes when every attempt at a payment has failed. */
  readonly whenUnpaid: 'canceled' | 'unpaid';
  /** By how much its clock has been moved ahead of the real one. */
  readonly clockAheadSeconds: number;
  /** Attempts at the payment that is overdue, and when the next one is made; null: none is planned. */
  readonly failedAttempts: number;
  readonly nextAttemptAt: Date | null;
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
  /** The bank waits for its customer to confirm the payment. */
  readonly isChallenged: boolean;
  /** Why the last attempt at paying failed. */
  readonly failure: PaymentFailure | null;
}

/** Why a payment was not taken. */
export type PaymentFailure = 'declined' | 'not_confirmed';

/** A visit to the hosted portal. */
export interface SandboxPortal {
  readonly id: string;
  readonly customer: string;
  readonly returnUrl: string;
  readonly isChallenged: boolean;
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

/** A subscription that is paid for again, in the period that contains `at` where the one before is over. */
export const paid = (subscription: SandboxSubscription, at: Date): SandboxSubscription => ({
  ...subscription,
  ...(subscription.periodEnd > at ? {} : nextPeriod(subscription, at)),
  status: 'active',
  endedAt: null,
  failedAttempts: 0,
  nextAttemptAt: null,
});

/** The period that contains `at`, in a subscription's own words. */
export const nextPeriod = (
  { anchor, interval }: SandboxSubscription,
  at: Date,
): Pick<SandboxSubscription, 'periodStart' | 'periodEnd'> => {
  const { start, end } = periodAt(anchor, interval, at);
  return { periodStart: start, periodEnd: end };
};

/** A subscription that pays nothing any more. */
export const ended = (
  subscription: SandboxSubscription,
  status: SubscriptionStatus,
  endedAt: Date,
): SandboxSubscription => ({ ...subscription, status, endedAt, nextAttemptAt: null });
