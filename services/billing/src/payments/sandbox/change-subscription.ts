import type { PortalNotice, SandboxCard, SubscriptionStatus } from '@svc/contracts';
import { inTransaction } from '@svc/database';
import { AppError, invalidField } from '@svc/service-kit';
import type { PlanOffer } from '../../plans/index.ts';
import { clockOf } from './advance-subscription.ts';
import { announceSubscription, type SandboxDeps } from './announce-changes.ts';
import { paysAlone } from './fall-due.ts';
import { findSubscription, lockPortalSubscription, lockSubscription, readNow, saveSubscription } from './queries.ts';
import { ended, hasEnded, isFinal, paid, periodAt, type SandboxSubscription } from './sandbox-records.ts';

/** What a person can do in the portal. `pay_confirmed`: pays what is overdue, as the bank's question was answered. */
export type PortalChange =
  | { readonly action: 'cancel' | 'resume' | 'pay' | 'pay_confirmed' }
  | { readonly action: 'change_plan'; readonly planId: string }
  | { readonly action: 'change_card'; readonly card: SandboxCard };

/** How it went; `challenged`: the bank asks to confirm first. */
export type PortalResult = PortalNotice | 'challenged' | undefined;

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
    await saveSubscription(trx, played(subscription, status, clockOf(subscription, await readNow(trx))));
  });
  await announceSubscription(deps, id);
  return (await findSubscription(deps.database, id))?.status ?? status;
};

const played = (subscription: SandboxSubscription, status: SubscriptionStatus, now: Date): SandboxSubscription => {
  if (status === 'active' || status === 'trialing') return { ...paid(subscription, now), status };
  if (hasEnded(status)) return ended(subscription, status, now);
  return { ...subscription, status, endedAt: null, failedAttempts: 0, nextAttemptAt: null };
};

/** Changes the subscription of a customer as asked in the portal; without one there is nothing to change. */
export const changeInPortal = async (
  deps: SandboxDeps & { readonly offer: PlanOffer },
  customer: string,
  change: PortalChange,
): Promise<PortalResult> => {
  const done = await inTransaction(deps.database, async (trx) => {
    const subscription = await lockPortalSubscription(trx, customer);
    if (subscription === undefined) return undefined;
    const now = clockOf(subscription, await readNow(trx));
    const { result, changed } = changeOf(deps.offer, change, { subscription, now });
    if (changed !== undefined) await saveSubscription(trx, changed);
    return { id: subscription.id, result };
  });
  if (done === undefined) return undefined;
  await announceSubscription(deps, done.id);
  return done.result;
};

interface Changed {
  readonly result: PortalResult;
  readonly changed?: SandboxSubscription;
}

const changeOf = (
  offer: PlanOffer,
  change: PortalChange,
  { subscription, now }: { readonly subscription: SandboxSubscription; readonly now: Date },
): Changed => {
  const isOverdue = subscription.status === 'past_due' || subscription.status === 'unpaid';
  switch (change.action) {
    case 'cancel':
      return { result: 'canceled', changed: { ...subscription, cancelAtPeriodEnd: true } };
    case 'resume':
      return { result: 'resumed', changed: { ...subscription, cancelAtPeriodEnd: false } };
    case 'change_card':
      if (change.card === 'declines') return { result: 'declined' };
      return { result: 'card_saved', changed: { ...subscription, card: change.card } };
    case 'change_plan':
      return changePlan(offer, change.planId, { subscription, now });
    case 'pay':
      if (!isOverdue) return { result: undefined };
      if (subscription.card === 'asks_to_confirm') return { result: 'challenged' };
      return paysAlone(subscription.card)
        ? { result: 'paid', changed: paid(subscription, now) }
        : { result: 'declined' };
    case 'pay_confirmed':
      return isOverdue ? { result: 'paid', changed: paid(subscription, now) } : { result: undefined };
  }
};

const changePlan = (
  offer: PlanOffer,
  planId: string,
  { subscription, now }: { readonly subscription: SandboxSubscription; readonly now: Date },
): Changed => {
  const plan = offer.find(planId);
  if (plan === undefined) throw invalidField(['form', 'plan_id'], 'value_error', 'Value error, there is no such plan');
  const { interval } = plan.price;
  if (interval === subscription.interval) {
    return { result: 'plan_changed', changed: { ...subscription, planId: plan.id } };
  }
  // Another interval begins a new period, paid for now.
  if (!paysAlone(subscription.card)) return { result: 'declined' };
  const { start, end } = periodAt(now, interval, now);
  return {
    result: 'plan_changed',
    changed: { ...subscription, planId: plan.id, interval, anchor: now, periodStart: start, periodEnd: end },
  };
};
