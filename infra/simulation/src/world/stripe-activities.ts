import { routes, STRIPE_SANDBOX } from '@svc/contracts';
import { type PaymentIntent, type SendEvent, StripeStandIn, type Subscription } from '@svc/sandbox/stripe';
import type { VirtualTime } from '../engine/time.ts';
import type { Activity, WorkloadParts } from './activity.ts';
import { createBillingCalls } from './activity.ts';
import type { BillingProcess } from './billing-process.ts';
import { PLANS } from './population.ts';

const DECLINED = 0.15;

/** Activities at Stripe: of customers in its portal, of the calendar, and the delivery of events. */
export const stripeActivitiesOf = ({ surroundings, stripe }: WorkloadParts): Activity[] => {
  const { random, time } = surroundings;
  return [
    {
      name: 'portal',
      meanMs: 1_200,
      run: async () => {
        const live = stripe.list('subscription').filter(({ status }) => status !== 'canceled');
        if (live.length === 0) return;
        const { id, cancel_at_period_end } = random.pick(live);
        const ended_at = Math.floor(time.nowMs() / 1000);
        if (random.chance(0.3)) stripe.changeSubscription(id, { status: 'canceled', ended_at });
        else stripe.changeSubscription(id, { cancel_at_period_end: !cancel_at_period_end });
      },
    },
    {
      name: 'another card',
      meanMs: 2_000,
      run: async () => {
        const customers = stripe.list('customer');
        if (customers.length === 0) return;
        const card = random.chance(DECLINED) ? 'declines_renewals' : 'succeeds';
        const { id } = random.pick(customers);
        stripe.saveCard(id, card);
        const [saved] = stripe.list('payment_method').slice(-1);
        const own = stripe
          .list('subscription')
          .find(({ customer, status }) => customer === id && status !== 'canceled');
        if (own !== undefined && saved !== undefined) {
          stripe.changeSubscription(own.id, { default_payment_method: saved.id });
        }
      },
    },
    {
      name: 'payment event',
      meanMs: 60,
      run: async () => {
        await stripe.run();
        const waiting = stripe.events.waiting().slice(0, 20);
        if (waiting.length === 0) return;
        surroundings.count('payment event');
        await stripe.events.deliver(random.pick(waiting).id);
      },
    },
  ];
};

/** Delivers an event of Stripe to one process of billing. Resolves with true if it was accepted. */
export const deliverEvent = async (parts: WorkloadParts, body: string, signature: string): Promise<boolean> => {
  const raw = { body, headers: { 'stripe-signature': signature } };
  const { askBilling } = createBillingCalls(parts);
  const deliver = (billing: BillingProcess) => billing.call(routes.receiveStripeEvent, { raw });
  return await askBilling('payments', deliver).then(
    () => true,
    () => false,
  );
};

/**
 * Opens the account at Stripe, a third party that no restore of ours takes back. Its events wait until the workload delivers
 * them, in any order.
 */
export const openStripeAccount = (time: VirtualTime, send: SendEvent): StripeStandIn => {
  const stripe = new StripeStandIn({
    plans: PLANS,
    publicBaseUrl: 'https://pay.test',
    secret: STRIPE_SANDBOX.webhookSecret,
    nowMs: () => time.nowMs(),
    send,
  });
  stripe.events.isHeld = true;
  return stripe;
};

/** Dates undelivered events anew after a pause of all machines, because Stripe gives a delivery up after three days. */
export const redateEvents = (stripe: StripeStandIn, nowMs: number): void => {
  for (const { id } of stripe.events.waiting()) stripe.update(id, { created: Math.floor(nowMs / 1000) });
};

/** Lists the payments that took money. */
export const paidPayments = (stripe: StripeStandIn): readonly PaymentIntent[] =>
  stripe.list('payment_intent').filter(({ status }) => status === 'succeeded');

/** Returns true if a payment of the subscription was lost in a dispute. */
export const hasLostPayment = (stripe: StripeStandIn, { id }: Subscription): boolean => {
  const lost = stripe.list('dispute').filter(({ status }) => status === 'lost');
  if (lost.length === 0) return false;
  const invoices = stripe.list('invoice').filter(({ parent }) => parent?.subscription_details.subscription === id);
  const payments = new Set(
    invoices.flatMap(({ payments }) => payments.data.map((each) => each.payment.payment_intent)),
  );
  return lost.some(({ payment_intent }) => payments.has(payment_intent));
};
