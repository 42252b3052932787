import type { Knex } from 'knex';
import type { Stripe } from 'stripe';
import type { CheckoutOrder, CheckoutState, PaymentProvider, Purchase } from '../index.ts';
import { idOf } from './id-of.ts';
import { MICROS_PER_MINOR_UNIT, toMinorUnits } from './minor-units.ts';
import { findCustomerId, insertCustomer } from './queries.ts';
import { refundPayment, revertSubscription } from './refunds.ts';
import { askForOne, askStripe } from './stripe-client.ts';
import { toSubscriptionState } from './subscription-state.ts';

/** What the provider works with. */
export interface StripeDeps {
  readonly database: Knex;
  readonly stripe: Stripe;
}

/** What is less goes to fees; less than half of it is refused by Stripe. */
const TOP_UP_MICROS_MIN = 1_000_000;

/**
 * Makes the payment provider Stripe. Every write carries an idempotency key made from what it is for, so that asking again
 * after an unclear answer does it once.
 */
export const createStripeProvider = (deps: StripeDeps): PaymentProvider => ({
  name: 'stripe',
  topUps: { minMicros: TOP_UP_MICROS_MIN, stepMicros: MICROS_PER_MINOR_UNIT },
  createCheckout: (order) => createCheckout(deps, order),
  readCheckout: (id) => readCheckout(deps, id),
  async readSubscription(id) {
    const subscription = await askForOne(() => deps.stripe.subscriptions.retrieve(id));
    return subscription === undefined ? undefined : toSubscriptionState(deps.database, subscription);
  },
  revertSubscription: (id) => revertSubscription(deps, id),
  refundPayment: (refund) => refundPayment(deps, refund),
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
    unit_amount: toMinorUnits(purchase.amountMicros),
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
