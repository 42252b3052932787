import type { SandboxCard } from '@svc/contracts';
import { anniversaryPeriod, endedStatusSchema, type Period, type SubscriptionStatus } from '@svc/contracts';

/** A subscription as the pages show it and its clock changes it. */
export interface HostedSubscription {
  readonly id: string;
  readonly customer: string;
  readonly planId: string;
  /** Number of times that the plan is paid: the seats of an organization. */
  readonly quantity: number;
  readonly interval: 'month' | 'year';
  readonly status: SubscriptionStatus;
  readonly anchor: Date;
  readonly periodStart: Date;
  readonly periodEnd: Date;
  readonly cancelAtPeriodEnd: boolean;
  readonly endedAt: Date | null;
  readonly card: SandboxCard;
  /** Status after every attempt at a payment has failed. */
  readonly whenUnpaid: 'canceled' | 'unpaid';
  /** Seconds that its own clock is ahead of the real one. */
  readonly clockAheadSeconds: number;
  /** Attempts at the overdue payment. */
  readonly failedAttempts: number;
  /** Null if no further attempt is planned. */
  readonly nextAttemptAt: Date | null;
  /** Paid for a former plan and not used. The next payments are reduced by it. */
  readonly creditMicros: number;
  /** Money that paid for the present period, credit included: what a change of plan gives back a part of. */
  readonly paidMicros: number;
}

/** Returns the time of a subscription's own clock. */
export const clockOf = ({ clockAheadSeconds }: HostedSubscription, now: Date): Date =>
  new Date(now.getTime() + clockAheadSeconds * 1000);

export const isOverdue = ({ status }: HostedSubscription): boolean => status === 'past_due' || status === 'unpaid';

/** Returns true for the states in which nothing is paid any more. */
export const hasEnded = (status: SubscriptionStatus): boolean => endedStatusSchema.safeParse(status).success;

/** Returns true for the states that no other follows. An unpaid subscription can still be paid. */
export const isFinal = (status: SubscriptionStatus): boolean =>
  status === 'canceled' || status === 'incomplete_expired';

/** Returns the paid period that contains `at`. */
export const periodAt = (anchor: Date, interval: HostedSubscription['interval'], at: Date): Period =>
  anniversaryPeriod(anchor, interval === 'year' ? 12 : 1, at);

/** Pays a subscription at `at`. If its period is over, the period that contains `at` begins. */
export const paid = (subscription: HostedSubscription, at: Date): HostedSubscription => ({
  ...(subscription.periodEnd > at ? subscription : inNextPeriod(subscription, at)),
  status: 'active',
  endedAt: null,
  failedAttempts: 0,
  nextAttemptAt: null,
});

/** Moves a subscription into the period that contains `at`. */
export const inNextPeriod = (subscription: HostedSubscription, at: Date): HostedSubscription => {
  const { start, end } = periodAt(subscription.anchor, subscription.interval, at);
  return { ...subscription, periodStart: start, periodEnd: end };
};

/** Ends a subscription: nothing is paid any more. */
export const ended = (
  subscription: HostedSubscription,
  status: SubscriptionStatus,
  endedAt: Date,
): HostedSubscription => ({ ...subscription, status, endedAt, nextAttemptAt: null });
