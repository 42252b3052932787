import type { PortalNotice, SandboxCard } from '@svc/contracts';
import { invalidField } from '@svc/service-kit';
import { announceSubscription, type SandboxDeps } from './announce-changes.ts';
import { saveCard } from './charge-queries.ts';
import { paysUnattended } from './fall-due.ts';
import { changePlan, type Price } from './plan-change.ts';
import type { PlanOffer } from './plan-offer.ts';
import { readClock } from './read-clock.ts';
import { clockOf, isOverdue, paid, type SandboxSubscription } from './sandbox-subscription.ts';
import { lockPortalSubscription, saveSubscription } from './subscription-queries.ts';
import { findPrice, invoiceChange, invoiceSubscription } from './write-invoice.ts';

/** An action in the portal. `pay_confirmed`: pays the overdue amount, after the cardholder has confirmed it. */
export type PortalChange =
  | { readonly action: 'cancel' | 'resume' | 'pay' | 'pay_confirmed' }
  | { readonly action: 'change_plan'; readonly planId: string }
  | { readonly action: 'change_card'; readonly card: SandboxCard };

/** Result of an action. `challenged`: the bank asks the cardholder to confirm first. */
export type PortalResult = PortalNotice | 'challenged' | undefined;

interface Outcome {
  readonly result: PortalResult;
  readonly changed?: SandboxSubscription;
  /** Payment for a change of plan. */
  readonly payment?: Price;
}

/** Changes the subscription of a customer and announces it. Without a subscription it does nothing. */
export const changeInPortal = async (
  deps: SandboxDeps,
  customer: string,
  change: PortalChange,
): Promise<PortalResult> => {
  const done = await deps.database.transaction(async (trx) => {
    const subscription = await lockPortalSubscription(trx, customer);
    if (subscription === undefined) return undefined;
    const now = clockOf(subscription, await readClock(trx));
    const present = await findPrice(deps, trx, subscription);
    const { result, changed, payment } = applyChange(deps.offer, change, { subscription, present, now });
    if (changed !== undefined) await saveSubscription(trx, changed);
    if (changed !== undefined && change.action !== 'change_plan') {
      await invoiceChange(deps, trx, { before: subscription, after: changed, at: now });
    }
    if (changed !== undefined && payment !== undefined && payment.amountMicros > 0) {
      const { amountMicros: totalMicros, currency } = payment;
      await invoiceSubscription(deps, trx, changed, { totalMicros, currency, periodStart: now, issuedAt: now });
    }
    if (result === 'card_saved' && changed !== undefined) await saveCard(trx, customer, changed.card);
    return { id: subscription.id, result };
  });
  if (done === undefined) return undefined;
  await announceSubscription(deps, done.id);
  return done.result;
};

interface Present {
  readonly subscription: SandboxSubscription;
  readonly present: Price | undefined;
  readonly now: Date;
}

const applyChange = (offer: PlanOffer, change: PortalChange, state: Present): Outcome => {
  const { subscription, now } = state;
  switch (change.action) {
    case 'cancel':
      return { result: 'canceled', changed: { ...subscription, cancelAtPeriodEnd: true } };
    case 'resume':
      return { result: 'resumed', changed: { ...subscription, cancelAtPeriodEnd: false } };
    case 'change_card':
      if (change.card === 'declines') return { result: 'declined' };
      return { result: 'card_saved', changed: { ...subscription, card: change.card } };
    case 'change_plan':
      return toPlan(offer, change.planId, state);
    case 'pay':
      if (!isOverdue(subscription)) return { result: undefined };
      if (subscription.card === 'asks_to_confirm') return { result: 'challenged' };
      return paysUnattended(subscription.card)
        ? { result: 'paid', changed: paid(subscription, now) }
        : { result: 'declined' };
    case 'pay_confirmed':
      return isOverdue(subscription) ? { result: 'paid', changed: paid(subscription, now) } : { result: undefined };
  }
};

const toPlan = (offer: PlanOffer, planId: string, { subscription, present, now }: Present): Outcome => {
  const plan = offer.find(planId);
  if (plan === undefined) throw invalidField(['form', 'plan_id'], 'value_error', 'Value error, there is no such plan');
  if (plan.id === subscription.planId) return { result: undefined };
  const { changed, dueMicros } = changePlan(subscription, plan, { present, at: now });
  if (dueMicros > 0 && !paysUnattended(subscription.card)) return { result: 'declined' };
  return {
    result: 'plan_changed',
    changed,
    payment: { amountMicros: dueMicros, currency: plan.price.currency },
  };
};
