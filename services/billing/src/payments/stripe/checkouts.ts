import { type ConfiguredPlan, type Locale, stripePriceOf } from '@svc/contracts';
import type { Stripe } from 'stripe';
import { UnreadableObject } from '../../jobs.ts';
import type { ProviderSubscription } from '../../subscriptions/index.ts';
import { TOP_UP_NAMES, withCustomer } from './customers.ts';
import { type Payment, toMinorUnits, toPayment } from './minor-units.ts';
import type { ProviderMeters } from './provider-meters.ts';
import { askForOne, askForPerson, idOf, keySince, type StripeDeps } from './stripe-client.ts';
import { SEATS_KEY, SESSION_KEY, SUBSCRIPTION_KEY, toSubscriptionState } from './subscription-state.ts';

export type Purchase =
  | { readonly kind: 'subscription'; readonly plan: ConfiguredPlan; readonly subscriptionId: string }
  | { readonly kind: 'seats'; readonly plan: ConfiguredPlan; readonly quantity: number; readonly orderId: string }
  | { readonly kind: 'top_up'; readonly amountMicros: number; readonly currency: string };

/** Order of a hosted checkout. `sessionId` is our id, and with it the idempotency key. */
export interface CheckoutOrder {
  readonly sessionId: string;
  readonly userId: string;
  readonly purchase: Purchase;
  /** Price at the start of the checkout. */
  readonly asked: Payment;
  /** Includes the session id in its query. */
  readonly successUrl: string;
  readonly cancelUrl: string;
  readonly locale: Locale | undefined;
}

export interface HostedCheckout {
  readonly providerSessionId: string;
  readonly url: string;
}

/** Progress of a hosted checkout. */
export type CheckoutState =
  | { readonly status: 'open' | 'expired' }
  | {
      readonly status: 'complete';
      /** Null if Stripe reports no amount. */
      readonly paid: Payment | null;
      /** Discount of promotion codes; 0 without any. */
      readonly discountMicros: number;
      readonly subscription: ProviderSubscription | null;
    };

/** Order of the hosted portal. */
export interface PortalOrder {
  readonly userId: string;
  readonly returnUrl: string;
  readonly locale: Locale | undefined;
}

/** Opens the portal, in which customers manage their subscription. */
export const createPortal = async (
  deps: StripeDeps,
  { userId, returnUrl, locale }: PortalOrder,
): Promise<{ readonly url: string }> => {
  const { url } = await withCustomer(deps, { userId, locale }, (customer) =>
    askForPerson(() =>
      deps.stripe.billingPortal.sessions.create({ customer, return_url: returnUrl, ...(locale && { locale }) }),
    ),
  );
  return { url };
};

/**
 * Creates a hosted checkout for a new session id. Like every write, it carries an idempotency key derived from its purpose,
 * so a retry after an unknown outcome takes effect only once.
 */
export const createCheckout = async (deps: StripeDeps, order: CheckoutOrder): Promise<HostedCheckout> => {
  const { sessionId, userId, successUrl, cancelUrl, locale } = order;
  const session = await withCustomer(deps, { userId, locale }, (customer, isNew) =>
    askForPerson(() =>
      deps.stripe.checkout.sessions.create(
        {
          ...toLineItems(order),
          customer,
          // Prices include the tax, so that the payment equals the price.
          automatic_tax: { enabled: true },
          tax_id_collection: { enabled: true },
          customer_update: { address: 'auto', name: 'auto' },
          metadata: toSessionMetadata(order),
          client_reference_id: sessionId,
          success_url: successUrl,
          cancel_url: cancelUrl,
          ...(locale && { locale }),
        },
        // A key belongs to its parameters, of which the customer has been replaced.
        {
          idempotencyKey: keySince(isNew ? `checkout-${sessionId}-${customer}` : `checkout-${sessionId}`, deps.clock()),
        },
      ),
    ),
  );
  if (session.url === null) throw new Error('Stripe created a checkout session without a URL');
  return { providerSessionId: session.id, url: session.url };
};

/** Returns enough metadata to recreate the session's row if a restore of the database loses it. */
const toSessionMetadata = ({ userId, purchase, asked }: CheckoutOrder): Stripe.MetadataParam => ({
  svc_user_id: userId,
  asked_micros: String(asked.amountMicros),
  asked_currency: asked.currency,
  ...(purchase.kind === 'top_up' ? {} : { plan_id: purchase.plan.id }),
  ...(purchase.kind === 'seats' ? { quantity: String(purchase.quantity) } : {}),
});

const toLineItems = ({ purchase, userId, sessionId, locale }: CheckoutOrder): Stripe.Checkout.SessionCreateParams =>
  purchase.kind !== 'top_up'
    ? {
        mode: 'subscription',
        allow_promotion_codes: true,
        line_items: [
          { price: stripePriceOf(purchase.plan), quantity: purchase.kind === 'seats' ? purchase.quantity : 1 },
        ],
        subscription_data: {
          metadata: {
            svc_user_id: userId,
            plan_id: purchase.plan.id,
            [SESSION_KEY]: sessionId,
            [SUBSCRIPTION_KEY]: purchase.kind === 'seats' ? purchase.orderId : purchase.subscriptionId,
            ...(purchase.kind === 'seats' ? { [SEATS_KEY]: 'true' } : {}),
          },
        },
      }
    : {
        mode: 'payment',
        line_items: [{ price_data: topUpPrice(purchase, locale), quantity: 1 }],
        invoice_creation: { enabled: true },
        // Saves the payment method for automatic top-ups, as subscriptions do for renewals.
        payment_intent_data: { setup_future_usage: 'off_session' },
      };

const topUpPrice = (
  { amountMicros, currency }: Extract<Purchase, { kind: 'top_up' }>,
  locale: Locale | undefined = 'en',
) => ({
  currency: currency.toLowerCase(),
  unit_amount: toMinorUnits({ amountMicros, currency }),
  tax_behavior: 'inclusive' as const,
  product_data: { name: TOP_UP_NAMES.bought[locale] },
});

/**
 * Reads a checkout; undefined if Stripe does not know it. A session that is complete at Stripe but unpaid, as by a debit that
 * takes days, counts as open until the payment has failed.
 */
export const readCheckout = async (
  deps: StripeDeps & { readonly providerMeters: Pick<ProviderMeters, 'checkoutPaid'> },
  id: string,
): Promise<CheckoutState | undefined> => {
  const session = await askForOne(() => deps.stripe.checkout.sessions.retrieve(id));
  if (session === undefined) return undefined;
  if (session.status === 'expired') return { status: 'expired' };
  if (session.status !== 'complete') return { status: 'open' };
  if (session.payment_status === 'unpaid') return { status: (await hasFailed(deps, session)) ? 'expired' : 'open' };
  deps.providerMeters.checkoutPaid();
  // The total includes discounts and taxes: a tax that billing did not ask for is a mismatch, and so is a coupon without
  // a promotion code.
  const payment = { paid: toPayment(session.amount_total, session.currency), discountMicros: discountOf(session) };
  if (session.subscription == null) return { status: 'complete', ...payment, subscription: null };
  const subscriptionId = idOf(session.subscription);
  const subscription = await askForOne(() => deps.stripe.subscriptions.retrieve(subscriptionId));
  const state = subscription && (await toSubscriptionState(deps.database, subscription));
  if (state === undefined) throw new UnreadableObject('missing', `the subscription of the checkout ${id} is missing`);
  return { status: 'complete', ...payment, subscription: state };
};

/** Payments that need another payment method, which a session that is complete does not ask for. */
const FAILED: ReadonlySet<string | undefined> = new Set(['requires_payment_method', 'canceled']);
const OVER: ReadonlySet<string | undefined> = new Set(['canceled', 'incomplete_expired']);

/** Returns true if the payment of a session that is complete has failed, so that nothing will pay the session. */
const hasFailed = async ({ stripe }: StripeDeps, session: Stripe.Checkout.Session): Promise<boolean> => {
  const { payment_intent: payment, subscription } = session;
  if (payment != null)
    return FAILED.has((await askForOne(() => stripe.paymentIntents.retrieve(idOf(payment))))?.status);
  if (subscription == null) return false;
  return OVER.has((await askForOne(() => stripe.subscriptions.retrieve(idOf(subscription))))?.status);
};

/** Returns the discount, if all of it comes from promotion codes. */
const discountOf = ({ discounts, total_details: details, currency }: Stripe.Checkout.Session): number => {
  const all = discounts ?? [];
  const isByCode = all.length > 0 && all.every(({ promotion_code: code }) => code !== null);
  return isByCode ? (toPayment(details?.amount_discount, currency)?.amountMicros ?? 0) : 0;
};
