import type { SandboxCard } from '@svc/contracts';
import { ended, nextPeriod, paid, type SandboxSubscription } from './sandbox-records.ts';

const DAY_MS = 86_400_000;
/** Days from each failed attempt at a payment to the next one; after the last the subscription ends. */
const DAYS_TO_RETRY = [3, 5, 7] as const;

/** Whether a payment is taken from this card while its holder is away. */
export const paysAlone = (card: SandboxCard): boolean => card === 'succeeds';

/** When the next thing happens to a subscription by itself; undefined: never. */
export const dueAt = (subscription: SandboxSubscription): Date | undefined => {
  switch (subscription.status) {
    case 'active':
    case 'trialing':
      return subscription.periodEnd;
    case 'past_due':
      return subscription.nextAttemptAt ?? undefined;
    default:
      return undefined;
  }
};

/** The next thing that happens to it: a renewal or the end that was asked for, a failed payment, its retry, the end. */
export const fallDue = (subscription: SandboxSubscription): SandboxSubscription => {
  const at = dueAt(subscription);
  if (at === undefined) return subscription;
  if (subscription.status === 'past_due') {
    return paysAlone(subscription.card) ? paid(subscription, at) : afterFailure(subscription, at);
  }
  if (subscription.cancelAtPeriodEnd) return ended(subscription, 'canceled', at);
  if (paysAlone(subscription.card)) return paid(subscription, at);
  // The new period begins though its payment is overdue.
  return afterFailure({ ...subscription, ...nextPeriod(subscription, at), failedAttempts: 0 }, at);
};

/** A payment that failed at `at`: tried again later, or given up. */
const afterFailure = (subscription: SandboxSubscription, at: Date): SandboxSubscription => {
  const failedAttempts = subscription.failedAttempts + 1;
  const days = DAYS_TO_RETRY[failedAttempts - 1];
  if (days === undefined) return { ...ended(subscription, subscription.whenUnpaid, at), failedAttempts };
  return { ...subscription, status: 'past_due', failedAttempts, nextAttemptAt: new Date(at.getTime() + days * DAY_MS) };
};

/** A state that was played: what it leads to begins when the clock is moved, not by itself. */
export const resumeDunning = (subscription: SandboxSubscription, now: Date): SandboxSubscription =>
  subscription.status === 'past_due' && subscription.nextAttemptAt === null
    ? afterFailure(subscription, now)
    : subscription;
