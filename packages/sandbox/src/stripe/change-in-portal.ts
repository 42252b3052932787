import type { PortalNotice, SandboxCard } from '@svc/contracts';
import { invalidField } from '@svc/service-kit';
import type { Account } from './account.ts';
import { nowOf } from './advance-subscription.ts';
import type { Catalog } from './catalog.ts';
import { paysUnattended } from './fall-due.ts';
import { clockOf, type HostedSubscription, isOverdue, paid } from './hosted-subscription.ts';
import { invoiceSubscription, saveChange } from './invoice-change.ts';
import { changePlan, type Price } from './plan-change.ts';
import { findManaged, saveHosted } from './subscriptions.ts';

/** An action in the portal. `pay_confirmed`: pays the overdue amount, after the cardholder has confirmed it. */
export type PortalChange =
  | { readonly action: 'cancel' | 'resume' | 'pay' | 'pay_confirmed' }
  | { readonly action: 'change_plan'; readonly planId: string }
  | { readonly action: 'change_card'; readonly card: SandboxCard };

/** Result of an action. `challenged`: the bank asks the cardholder to confirm first. */
export type PortalResult = PortalNotice | 'challenged' | undefined;

interface Outcome {
  readonly result: PortalResult;
  readonly changed?: HostedSubscription;
  /** Payment for a change of plan. */
  readonly payment?: Price;
}

/** Changes the subscription of a customer and announces it. Without a subscription it does nothing. */
export const changeInPortal = async (
  account: Account,
  customer: string,
  change: PortalChange,
): Promise<PortalResult> => {
  const subscription = findManaged(account, customer);
  if (subscription === undefined) return undefined;
  const now = clockOf(subscription, nowOf(account));
  const { result, changed, payment } = applyChange(account.catalog, change, { subscription, now });
  if (changed !== undefined && change.action !== 'change_plan') {
    saveChange(account, { before: subscription, after: changed, at: now });
  } else if (changed !== undefined) {
    saveHosted(account, changed);
    if (payment !== undefined && payment.amountMicros > 0) {
      invoiceSubscription(account, changed, { ...payment, start: now, at: now });
    }
  }
  await account.announce();
  return result;
};

interface Present {
  readonly subscription: HostedSubscription;
  readonly now: Date;
}

const applyChange = (offer: Catalog, change: PortalChange, state: Present): Outcome => {
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

const toPlan = (offer: Catalog, planId: string, { subscription, now }: Present): Outcome => {
  const plan = offer.find(planId);
  if (plan === undefined) throw invalidField(['form', 'plan_id'], 'value_error', 'Value error, there is no such plan');
  if (plan.id === subscription.planId) return { result: undefined };
  const { changed, dueMicros } = changePlan(subscription, plan, now);
  if (dueMicros > 0 && !paysUnattended(subscription.card)) return { result: 'declined' };
  return {
    result: 'plan_changed',
    changed,
    payment: { amountMicros: dueMicros, currency: plan.price.currency },
  };
};
