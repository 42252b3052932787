import type { SubscriptionStatus } from '@svc/contracts';
import { invalidField } from '@svc/service-kit';
import type { Account } from './account.ts';
import { nowOf, readHosted } from './advance-subscription.ts';
import { clockOf, ended, type HostedSubscription, hasEnded, isFinal, paid } from './hosted-subscription.ts';
import { saveChange } from './invoice-change.ts';

/** Sets the status of a subscription and returns the one that it then has. Throws 422 if the present status is final. */
export const playStatus = async (
  account: Account,
  id: string,
  status: SubscriptionStatus,
): Promise<SubscriptionStatus> => {
  const before = readHosted(account, id);
  if (before.status === status) return status;
  if (isFinal(before.status)) {
    const message = `Value error, a subscription that is ${before.status} stays so`;
    throw invalidField(['body', 'status'], 'value_error', message);
  }
  const at = clockOf(before, nowOf(account));
  saveChange(account, { before, after: withStatus(before, status, at), at });
  await account.announce();
  return readHosted(account, id).status;
};

const withStatus = (subscription: HostedSubscription, status: SubscriptionStatus, now: Date): HostedSubscription => {
  if (status === 'active' || status === 'trialing') return { ...paid(subscription, now), status };
  if (hasEnded(status)) return ended(subscription, status, now);
  return { ...subscription, status, endedAt: null, failedAttempts: 0, nextAttemptAt: null };
};
