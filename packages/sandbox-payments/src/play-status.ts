import type { SubscriptionStatus } from '@svc/contracts';
import { AppError, invalidField } from '@svc/service-kit';
import { announceSubscription, type SandboxDeps } from './announce-changes.ts';
import { readClock } from './read-clock.ts';
import { clockOf, ended, hasEnded, isFinal, paid, type SandboxSubscription } from './sandbox-subscription.ts';
import { findSubscription, lockSubscription, saveSubscription } from './subscription-queries.ts';
import { invoiceChange } from './write-invoice.ts';

/** Sets the status of a subscription and returns the one that it then has. Throws 422 if the present status is final. */
export const playStatus = async (
  deps: SandboxDeps,
  id: string,
  status: SubscriptionStatus,
): Promise<SubscriptionStatus> => {
  await deps.database.transaction(async (trx) => {
    const subscription = await lockSubscription(trx, id);
    if (subscription === undefined) throw new AppError('not_found');
    if (subscription.status === status) return;
    if (isFinal(subscription.status)) {
      const message = `Value error, a subscription that is ${subscription.status} stays so`;
      throw invalidField(['body', 'status'], 'value_error', message);
    }
    const at = clockOf(subscription, await readClock(trx));
    const after = withStatus(subscription, status, at);
    await saveSubscription(trx, after);
    await invoiceChange(deps, trx, { before: subscription, after, at });
  });
  await announceSubscription(deps, id);
  return (await findSubscription(deps.database, id))?.status ?? status;
};

const withStatus = (subscription: SandboxSubscription, status: SubscriptionStatus, now: Date): SandboxSubscription => {
  if (status === 'active' || status === 'trialing') return { ...paid(subscription, now), status };
  if (hasEnded(status)) return ended(subscription, status, now);
  return { ...subscription, status, endedAt: null, failedAttempts: 0, nextAttemptAt: null };
};
