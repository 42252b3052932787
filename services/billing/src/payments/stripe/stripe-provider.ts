import type { Locale } from '@svc/contracts';
import type { Knex } from 'knex';
import type { Stripe } from 'stripe';
import type { CheckoutOrder, CheckoutState, HostedSubscription, Payment, PaymentProvider, Purchase } from '../index.ts';
import { chargeSaved, hasPaymentMethod } from './charges.ts';
import { endSubscription, forgetCustomer, setCancelAtPeriodEnd } from './endings.ts';
import { idOf } from './id-of.ts';
import { invoiceCharge, listInvoices } from './invoices.ts';
import { preferLocale, TOP_UP_NAMES } from './language.ts';
import { MICROS_PER_MINOR_UNIT, toMinorUnits } from './minor-units.ts';
import { findCustomerId, insertCustomer } from './queries.ts';
import { refundPayment, revertSubscription } from './refunds.ts';
import { askForOne, askStripe } from './stripe-client.ts';
import { toSubscriptionState } from './subscription-state.ts';

export interface StripeDeps {
  readonly database: Knex;
  readonly stripe: Stripe;
}

/** Stripe's own minimum is about half of this, but fees would consume most of such a payment. */
const TOP_UP_MICROS_MIN = 1_000_000;

/** Metadata key of a Stripe subscription, holding the id of our checkout session. */
const SESSION_KEY = 'svc_session_id';

/**
 * Creates the payment provider for Stripe. Every write carries an idempotency key derived from its purpose, so a retry
 * after an unknown outcome takes effect only once.
 */
export const createStripeProvider = (deps: StripeDeps): PaymentProvider => ({
  name: 'stripe',
  topUps: { minMicros: TOP_UP_MICROS_MIN, stepMicros: MICROS_PER_MINOR_UNIT },
  createCheckout: (order) => createCheckout(deps, order),
  readCheckout: (id) => readCheckout(deps, id),
  readSubscription: (id) => readSubscription(deps, id),
  revertSubscription: (id) => revertSubscription(deps, id),
  setCancelAtPeriodEnd: (id, isCancelled) => setCancelAtPeriodEnd(deps, id, isCancelled),
  endSubscription: (id) => endSubscription(deps, id),
  forgetCustomer: (userId) => forgetCustomer(deps, userId),
  refundPayment: (refund) => refundPayment(deps, refund),
  hasPaymentMethod: (userId) => hasPaymentMethod(deps, userId),
  async preferLocale(userId, locale) {
    await preferLocale(deps.stripe, await ensureCustomer(deps, userId), locale);
  },
  chargeSaved: (charge) => chargeSaved(deps, charge),
  invoiceCharge: (charge) => invoiceCharge(deps, charge),
  listInvoices: (page) => listInvoices(deps, page),
  async createPortal({ userId, returnUrl, locale }) {
    const customer = await ensureCustomer(deps, userId);
    if (locale !== undefined) await preferLocale(deps.stripe, customer, locale);
    const { url } = await askStripe(() =>
      deps.stripe.billingPortal.sessions.create({ customer, return_url: returnUrl, ...(locale && { locale }) }),
    );
    return { url };
  },
});

const createCheckout = async (deps: StripeDeps, order: CheckoutOrder) => {
  const { sessionId, userId, successUrl, cancelUrl, locale } = order;
  const customer = await ensureCustomer(deps, userId);
  if (locale !== undefined) await preferLocale(deps.stripe, customer, locale);
  const session = await askStripe(() =>
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
      { idempotencyKey: `checkout-${sessionId}` },
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
  ...(purchase.kind === 'subscription' ? { plan_id: purchase.plan.id } : {}),
});

const toLineItems = ({ purchase, userId, sessionId, locale }: CheckoutOrder): Stripe.Checkout.SessionCreateParams =>
  purchase.kind === 'subscription'
    ? {
        mode: 'subscription',
        allow_promotion_codes: true,
        line_items: [{ price: stripePriceOf(purchase), quantity: 1 }],
        subscription_data: { metadata: { svc_user_id: userId, plan_id: purchase.plan.id, [SESSION_KEY]: sessionId } },
      }
    : {
        mode: 'payment',
        line_items: [{ price_data: topUpPrice(purchase, locale), quantity: 1 }],
        invoice_creation: { enabled: true },
        // Saves the payment method for automatic top-ups, as subscriptions do for renewals.
        payment_intent_data: { setup_future_usage: 'off_session' },
      };

const stripePriceOf = ({ plan }: Extract<Purchase, { kind: 'subscription' }>): string => {
  if (plan.stripe_price_id === undefined) throw new Error(`the plan ${plan.id} has no price at Stripe`);
  return plan.stripe_price_id;
};

const topUpPrice = (
  { amountMicros, currency }: Extract<Purchase, { kind: 'top_up' }>,
  locale: Locale | undefined = 'en',
) => ({
  currency: currency.toLowerCase(),
  unit_amount: toMinorUnits(amountMicros),
  tax_behavior: 'inclusive' as const,
  product_data: { name: TOP_UP_NAMES.bought[locale] },
});

/** Reads a checkout. A session that is complete at Stripe but unpaid counts as open. */
const readCheckout = async (deps: StripeDeps, id: string): Promise<CheckoutState | undefined> => {
  const session = await askForOne(() => deps.stripe.checkout.sessions.retrieve(id));
  if (session === undefined) return undefined;
  if (session.status === 'expired') return { status: 'expired' };
  if (session.status !== 'complete' || session.payment_status === 'unpaid') return { status: 'open' };
  const payment = { paid: paymentOf(session), discountMicros: discountOf(session) };
  if (session.subscription === null) return { status: 'complete', ...payment, subscription: null };
  const subscriptionId = idOf(session.subscription);
  const subscription = await askStripe(() => deps.stripe.subscriptions.retrieve(subscriptionId));
  const state = await toSubscriptionState(deps.database, subscription);
  if (state === undefined) throw new Error('a subscription that was bought here belongs to no account');
  return { status: 'complete', ...payment, subscription: state };
};

/**
 * Returns the total, which includes discounts and taxes: a tax that billing did not ask for is a mismatch, and so is a
 * coupon without a promotion code.
 */
const paymentOf = ({ amount_total: amount, currency }: Stripe.Checkout.Session): Payment | null =>
  typeof amount !== 'number' || typeof currency !== 'string'
    ? null
    : { amountMicros: amount * MICROS_PER_MINOR_UNIT, currency: currency.toUpperCase() };

/** Returns the discount, if all of it comes from promotion codes. */
const discountOf = ({ discounts, total_details: details }: Stripe.Checkout.Session): number => {
  const all = discounts ?? [];
  const isByCode = all.length > 0 && all.every(({ promotion_code: code }) => code !== null);
  return isByCode ? (details?.amount_discount ?? 0) * MICROS_PER_MINOR_UNIT : 0;
};

const readSubscription = async (deps: StripeDeps, id: string): Promise<HostedSubscription | undefined> => {
  const subscription = await askForOne(() => deps.stripe.subscriptions.retrieve(id));
  if (subscription === undefined) return undefined;
  const state = await toSubscriptionState(deps.database, subscription);
  return state === undefined ? undefined : { ...state, sessionId: subscription.metadata[SESSION_KEY] ?? null };
};

const ensureCustomer = async ({ database, stripe }: StripeDeps, userId: string): Promise<string> => {
  const known = await findCustomerId(database, userId);
  if (known !== undefined) return known;
  const { id } = await askStripe(() =>
    stripe.customers.create({ metadata: { svc_user_id: userId } }, { idempotencyKey: `customer-${userId}` }),
  );
  return insertCustomer(database, userId, id);
};
