import type { SandboxCard } from '@svc/contracts';
import { ended, type HostedSubscription, inNextPeriod, paid } from './hosted-subscription.ts';

const DAY_MS = 86_400_000;
/** Days from each failed attempt at a payment to the next one. After the last attempt the subscription ends. */
const DAYS_TO_RETRY = [3, 5, 7] as const;

/** Returns true if the card pays without its holder. */
export const paysUnattended = (card: SandboxCard): boolean => card === 'succeeds';

/** Returns the time of the next event in a subscription's life; undefined if none is due. */
export const dueAt = (subscription: HostedSubscription): Date | undefined => {
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

/** Applies the next event in a subscription's life: renewal, requested end, failed payment, retry, or final failure. */
export const fallDue = (subscription: HostedSubscription): HostedSubscription => {
  const at = dueAt(subscription);
  if (at === undefined) return subscription;
  if (subscription.status === 'past_due') {
    return paysUnattended(subscription.card) ? paid(subscription, at) : afterFailure(subscription, at);
  }
  if (subscription.cancelAtPeriodEnd) return ended(subscription, 'canceled', at);
  if (paysUnattended(subscription.card)) return paid(subscription, at);
  // The new period begins although its payment is overdue.
  return afterFailure({ ...inNextPeriod(subscription, at), failedAttempts: 0 }, at);
};

const afterFailure = (subscription: HostedSubscription, at: Date): HostedSubscription => {
  const failedAttempts = subscription.failedAttempts + 1;
  const days = DAYS_TO_RETRY[failedAttempts - 1];
  if (days === undefined) return { ...ended(subscription, subscription.whenUnpaid, at), failedAttempts };
  return { ...subscription, status: 'past_due', failedAttempts, nextAttemptAt: new Date(at.getTime() + days * DAY_MS) };
};

/** Plans the first retry of a subscription whose `past_due` was played. Playing a state plans nothing by itself. */
export const resumeDunning = (subscription: HostedSubscription, now: Date): HostedSubscription =>
  subscription.status === 'past_due' && subscription.nextAttemptAt === null
    ? afterFailure(subscription, now)
    : subscription;
