import type { Locale } from '@svc/contracts';
import { AppError, invalidField } from '@svc/service-kit';
import type { PlanOffer } from '../plans/index.ts';
import { findLiveSubscription } from '../subscriptions/index.ts';
import { withSessionId } from './checkout-session.ts';
import { checkPayable } from './payable.ts';
import { insertCheckoutSession, updateProviderSession } from './queries.ts';
import { createCheckout, type Payment, type Purchase, type StripeDeps } from './stripe/index.ts';

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

interface Buyer {
  readonly userId: string;
  readonly locale?: Locale;
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
  const plan = deps.offer.find(request.plan_id);
  if (plan === undefined) throw invalidField(['body', 'plan_id'], 'value_error', 'Value error, there is no such plan');
  if ((await findLiveSubscription(deps.database, buyer.userId)) !== undefined) {
    throw new AppError('subscription_already_active');
  }
  return startCheckout(deps, buyer, { kind: 'subscription', plan, subscriptionId: deps.newId('sub') }, request);
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

const startCheckout = async (
  deps: CheckoutDeps,
  { userId, locale }: Buyer,
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
    planId: purchase.kind === 'subscription' ? purchase.plan.id : null,
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
  await updateProviderSession(database, id, hosted.providerSessionId);
  return { session_id: id, url: hosted.url, expires_at: expiresAt.toISOString() };
};

const priceOf = (purchase: Purchase): Payment => {
  if (purchase.kind === 'top_up') return { amountMicros: purchase.amountMicros, currency: purchase.currency };
  const { amount_micros: amountMicros, currency } = purchase.plan.price;
  return { amountMicros, currency };
};
