import type { SubscriptionStatus } from '@svc/contracts';
import { inTransaction } from '@svc/database';
import { AppError, invalidField } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { PlanOffer } from '../../plans/index.ts';
import { announceSubscription, attemptEach, type SandboxDeps } from './announce-changes.ts';
import {
  findSubscription,
  listDueSubscriptions,
  lockLiveSubscription,
  lockSubscription,
  readNow,
  saveSubscription,
} from './queries.ts';
import { hasEnded, isFinal, periodAt, renew, type SandboxSubscription } from './sandbox-records.ts';

const BATCH = 100;

/** What a person can do in the portal. */
export type PortalChange =
  | { readonly action: 'cancel' | 'resume' }
  | { readonly action: 'change_plan'; readonly planId: string };

/** Plays a later state of a subscription and answers the one it then has. Throws 422 for a state after a final one. */
export const playStatus = async (
  deps: SandboxDeps,
  id: string,
  status: SubscriptionStatus,
): Promise<SubscriptionStatus> => {
  await inTransaction(deps.database, async (trx) => {
    const subscription = await lockSubscription(trx, id);
    if (subscription === undefined) throw new AppError('not_found');
    if (subscription.status === status) return;
    if (isFinal(subscription.status)) {
      const message = `Value error, a subscription that is ${subscription.status} stays so`;
      throw invalidField(['body', 'status'], 'value_error', message);
    }
    const now = await readNow(trx);
    const played = { ...subscription, status, endedAt: hasEnded(status) ? now : null };
    const isOverdue = (status === 'active' || status === 'trialing') && subscription.periodEnd <= now;
    await saveSubscription(trx, isOverdue ? renew(played, now) : played);
  });
  await announceSubscription(deps, id);
  return (await findSubscription(deps.database, id))?.status ?? status;
};

/** Changes the live subscription of a customer as asked in the portal; without one there is nothing to change. */
export const changeInPortal = async (
  deps: SandboxDeps & { readonly offer: PlanOffer },
  customer: string,
  change: PortalChange,
): Promise<void> => {
  const id = await inTransaction(deps.database, async (trx) => {
    const subscription = await lockLiveSubscription(trx, customer);
    if (subscription === undefined) return undefined;
    await saveSubscription(trx, await changed(deps, trx, subscription, change));
    return subscription.id;
  });
  if (id !== undefined) await announceSubscription(deps, id);
};

const changed = async (
  { offer }: { readonly offer: PlanOffer },
  trx: Knex.Transaction,
  subscription: SandboxSubscription,
  change: PortalChange,
): Promise<SandboxSubscription> => {
  if (change.action !== 'change_plan') return { ...subscription, cancelAtPeriodEnd: change.action === 'cancel' };
  const plan = offer.find(change.planId);
  if (plan === undefined) throw invalidField(['form', 'plan_id'], 'value_error', 'Value error, there is no such plan');
  const { interval } = plan.price;
  if (interval === subscription.interval) return { ...subscription, planId: plan.id };
  // Another interval begins a new period, paid for now.
  const anchor = await readNow(trx);
  const { start, end } = periodAt(anchor, interval, anchor);
  return { ...subscription, planId: plan.id, interval, anchor, periodStart: start, periodEnd: end };
};

/** Renews what is due, or ends it where that was asked for, as a payment provider does on its own. */
export const renewDue = async (deps: SandboxDeps): Promise<void> => {
  await attemptEach(await listDueSubscriptions(deps.database, BATCH), async (id) => {
    await inTransaction(deps.database, async (trx) => {
      const subscription = await lockSubscription(trx, id);
      const now = await readNow(trx);
      const isDue = subscription?.status === 'active' || subscription?.status === 'trialing';
      if (subscription === undefined || !isDue || subscription.periodEnd > now) return;
      await saveSubscription(trx, renew(subscription, now));
    });
    await announceSubscription(deps, id);
  });
};
