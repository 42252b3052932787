import type { Knex } from 'knex';
import type { Stripe } from 'stripe';
import type { CheckoutOrder, CheckoutState, PaymentProvider, Purchase } from '../index.ts';
import { findCustomerId, insertCustomer } from './queries.ts';
import { askForOne, askStripe } from './stripe-client.ts';
import { toSubscriptionState } from './subscription-state.ts';

/** Stripe counts money in hundredths of the currency's unit. */
const MICROS_PER_MINOR_UNIT = 10_000;

/** What the provider works with. */
export interface StripeDeps {
  readonly database: Knex;
  readonly stripe: Stripe;
}

/**
 * Makes the payment provider Stripe. Every write carries an idempotency key made from what it is for, so that asking again
 * after an unclear answer does it once.
 */
export const createStripeProvider = (deps: StripeDeps): PaymentProvider => ({
  name: 'stripe',
  createCheckout: (order) => createCheckout(deps, order),
  readCheckout: (id) => readCheckout(deps, id),
  async readSubscription(id) {
    const subscription = await askForOne(() => deps.stripe.subscriptions.retrieve(id));
    return subscription === undefined ? undefined : toSubscriptionState(deps.database, subscription);
  },
  revertSubscription: (id) => revertSubscription(deps, id),
  async createPortal({ userId, returnUrl }) {
    const customer = await ensureCustomer(deps, userId);
    const { url } = await askStripe(() =>
      deps.stripe.billingPortal.sessions.create({ customer, return_url: returnUrl }),
    );
    return { url };
  },
});

const createCheckout = async (deps: StripeDeps, order: CheckoutOrder) => {
  const { sessionId, userId, purchase, successUrl, cancelUrl } = order;
  const customer = await ensureCustomer(deps, userId);
  const session = await askStripe(() =>
    deps.stripe.checkout.sessions.create(
      {
        ...linesOf(purchase, userId),
        customer,
        client_reference_id: sessionId,
        success_url: successUrl,
        cancel_url: cancelUrl,
      },
      { idempotencyKey: `checkout-${sessionId}` },
    ),
  );
  if (session.url === null) throw new Error('Stripe made a checkout session without an address');
  return { providerSessionId: session.id, url: session.url };
};

const linesOf = (purchase: Purchase, userId: string): Stripe.Checkout.SessionCreateParams => {
  if (purchase.kind === 'subscription') {
    const { id, stripe_price_id } = purchase.plan;
    if (stripe_price_id === undefined) throw new Error(`the plan ${id} has no price at Stripe`);
    return {
      mode: 'subscription',
      line_items: [{ price: stripe_price_id, quantity: 1 }],
      subscription_data: { metadata: { svc_user_id: userId } },
    };
  }
  const price = {
    currency: purchase.currency.toLowerCase(),
    unit_amount: purchase.amountMicros / MICROS_PER_MINOR_UNIT,
    product_data: { name: 'Wallet top-up' },
  };
  return { mode: 'payment', line_items: [{ price_data: price, quantity: 1 }] };
};

/** A session may be complete while its payment is still under way; only a paid one has an effect. */
const readCheckout = async (deps: StripeDeps, id: string): Promise<CheckoutState | undefined> => {
  const session = await askForOne(() => deps.stripe.checkout.sessions.retrieve(id));
  if (session === undefined) return undefined;
  if (session.status === 'expired') return { status: 'expired' };
  if (session.status !== 'complete' || session.payment_status === 'unpaid') return { status: 'open' };
  if (session.subscription === null) return { status: 'complete', subscription: null };
  const subscriptionId = idOf(session.subscription);
  const subscription = await askStripe(() => deps.stripe.subscriptions.retrieve(subscriptionId));
  const state = await toSubscriptionState(deps.database, subscription);
  if (state === undefined) throw new Error('a subscription that was bought here belongs to nobody');
  return { status: 'complete', subscription: state };
};

const ensureCustomer = async ({ database, stripe }: StripeDeps, userId: string): Promise<string> => {
  const known = await findCustomerId(database, userId);
  if (known !== undefined) return known;
  const { id } = await askStripe(() =>
    stripe.customers.create({ metadata: { svc_user_id: userId } }, { idempotencyKey: `customer-${userId}` }),
  );
  return insertCustomer(database, userId, id);
};

/** Refunds what was paid for it and ends it; each step finds its own effect when it is done again. */
const revertSubscription = async ({ stripe }: StripeDeps, id: string): Promise<void> => {
  const subscription = await askForOne(() =>
    stripe.subscriptions.retrieve(id, { expand: ['latest_invoice.payments'] }),
  );
  if (subscription === undefined) return;
  const invoice = subscription.latest_invoice;
  const payments = invoice === null || typeof invoice === 'string' ? [] : (invoice.payments?.data ?? []);
  for (const { payment, status } of payments) {
    const { payment_intent } = payment;
    if (status !== 'paid' || payment_intent === undefined) continue;
    const intent = idOf(payment_intent);
    await askStripe(() => stripe.refunds.create({ payment_intent: intent }, { idempotencyKey: `revert-${intent}` }));
  }
  if (subscription.status === 'canceled' || subscription.status === 'incomplete_expired') return;
  await askForOne(() => stripe.subscriptions.cancel(id, {}, { idempotencyKey: `revert-${id}` }));
};

const idOf = (reference: string | { readonly id: string }): string =>
  typeof reference === 'string' ? reference : reference.id;
