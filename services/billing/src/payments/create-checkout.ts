import type { ConfiguredPlan, Locale } from '@svc/contracts';
import { recordAct } from '@svc/database';
import { type Act, AppError, invalidField } from '@svc/service-kit';
import type { PlanOffer } from '../plans.ts';
import { findLiveSubscription } from '../subscriptions/index.ts';
import { insertCheckoutSession, updateProviderSession, withSessionId } from './checkout-sessions.ts';
import { createCheckout, type Payment, type Purchase, type StripeDeps } from './stripe/index.ts';
import { checkPayable } from './stripe/minor-units.ts';

export interface CheckoutDeps extends StripeDeps {
  readonly offer: PlanOffer;
  readonly currency: string;
  readonly newId: (prefix: 'cs' | 'sub') => string;
}

/** A started checkout, with the URL of its hosted page. */
export interface StartedCheckout {
  readonly session_id: string;
  readonly url: string;
  readonly expires_at: string;
}

/** Account that pays, and the act of the person who buys for it. */
export interface Buyer {
  readonly userId: string;
  readonly locale?: Locale | undefined;
  readonly act: Act;
}

interface ReturnUrls {
  readonly success_url: string;
  readonly cancel_url: string;
}

/**
 * Starts the purchase of a subscription. Throws `subscription_already_active` if one is live, 422 for an unknown plan.
 */
export const createSubscriptionCheckout = async (
  deps: CheckoutDeps,
  buyer: Buyer,
  request: ReturnUrls & { readonly plan_id: string },
): Promise<StartedCheckout> => {
  const plan = requirePlan(deps.offer, request.plan_id);
  if ((await findLiveSubscription(deps.database, buyer.userId)) !== undefined) {
    throw new AppError('subscription_already_active');
  }
  return startCheckout(deps, buyer, { kind: 'subscription', plan, subscriptionId: deps.newId('sub') }, request);
};

/** Starts the purchase of the first seats of a plan. The caller checks that the organization has none. */
export const createSeatsCheckout = async (
  deps: CheckoutDeps,
  buyer: Buyer,
  request: ReturnUrls & { readonly plan_id: string; readonly quantity: number },
): Promise<StartedCheckout> => {
  const plan = requirePlan(deps.offer, request.plan_id);
  const purchase = { kind: 'seats', plan, quantity: request.quantity, orderId: deps.newId('sub') } as const;
  return startCheckout(deps, buyer, purchase, request);
};

/** Starts a wallet top-up. Throws 422 for an amount that Stripe does not charge. */
export const createTopUpCheckout = async (
  deps: CheckoutDeps,
  buyer: Buyer,
  request: ReturnUrls & { readonly amount_micros: number },
): Promise<StartedCheckout> => {
  checkPayable(deps.currency, request.amount_micros);
  const purchase = { kind: 'top_up', amountMicros: request.amount_micros, currency: deps.currency } as const;
  return startCheckout(deps, buyer, purchase, request);
};

const requirePlan = (offer: PlanOffer, planId: string): ConfiguredPlan => {
  const plan = offer.find(planId);
  if (plan === undefined) throw invalidField(['body', 'plan_id'], 'value_error', 'Value error, there is no such plan');
  return plan;
};

const startCheckout = async (
  deps: CheckoutDeps,
  { userId, locale, act }: Buyer,
  purchase: Purchase,
  urls: ReturnUrls,
): Promise<StartedCheckout> => {
  const { database } = deps;
  const id = deps.newId('cs');
  const asked = priceOf(purchase);
  const expiresAt = await insertCheckoutSession(database, {
    id,
    userId,
    kind: purchase.kind,
    planId: purchase.kind === 'top_up' ? null : purchase.plan.id,
    quantity: purchase.kind === 'seats' ? purchase.quantity : null,
    amountMicros: purchase.kind === 'top_up' ? purchase.amountMicros : null,
    asked,
  });
  const hosted = await createCheckout(deps, {
    sessionId: id,
    userId,
    purchase,
    asked,
    successUrl: withSessionId(urls.success_url, id),
    cancelUrl: urls.cancel_url,
    locale,
  });
  await database.transaction(async (trx) => {
    await updateProviderSession(trx, id, hosted.providerSessionId);
    await recordAct(trx, act, { type: 'checkout', id, name: nameOf(purchase) });
  });
  return { session_id: id, url: hosted.url, expires_at: expiresAt.toISOString() };
};

/** Names a purchase for the audit log; null for a top-up. */
const nameOf = (purchase: Purchase): string | null => {
  if (purchase.kind === 'top_up') return null;
  return purchase.kind === 'seats' ? `${purchase.quantity} × ${purchase.plan.name}` : purchase.plan.name;
};

const priceOf = (purchase: Purchase): Payment => {
  if (purchase.kind === 'top_up') return { amountMicros: purchase.amountMicros, currency: purchase.currency };
  const { amount_micros: amountMicros, currency } = purchase.plan.price;
  const quantity = purchase.kind === 'seats' ? purchase.quantity : 1;
  return { amountMicros: amountMicros * quantity, currency };
};
