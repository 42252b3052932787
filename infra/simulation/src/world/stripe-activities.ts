import { internalRoutes, routes, STRIPE_SANDBOX } from '@svc/contracts';
import { type PaymentIntent, type SendEvent, StripeStandIn, type Subscription } from '@svc/sandbox/stripe';
import type { VirtualTime } from '../engine/time.ts';
import { type Activity, createBillingCalls, type WorkloadParts } from './activity.ts';
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
const paidPayments = (stripe: StripeStandIn): readonly PaymentIntent[] =>
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

/** Micros in one cent, and in one unit of the currency. */
const CENT = 10_000;
const UNIT = 1_000_000;
/** Greatest sum of automatic charges in a month. Always the same, so that the charges of a month can be checked. */
export const MONTHLY_MAX_MICROS = 12 * UNIT;
const REFUND_FAILS = 0.15;
const DISPUTE_IS_WON = 0.4;

/** Activities that set automatic top-ups, and that take payments back. */
export const reversalsOf = (parts: WorkloadParts): Activity[] => {
  const { surroundings, stripe, population } = parts;
  const { random, count } = surroundings;
  const { askBilling, callerOf } = createBillingCalls(parts);
  const someCents = (most: number): number => (random.chance(0.4) ? most : random.integer(1, most));
  return [
    {
      name: 'automatic top-ups',
      meanMs: 900,
      run: async () => {
        const userId = random.pick(population.users);
        const body = {
          enabled: random.chance(0.8),
          below_micros: random.integer(1, 3) * UNIT,
          amount_micros: random.integer(1, 4) * UNIT,
          monthly_max_micros: MONTHLY_MAX_MICROS,
        };
        count('automatic top-ups');
        await askBilling('client', (billing) =>
          billing.call(routes.changeAutoTopUp, { body, caller: callerOf(userId) }),
        );
      },
    },
    {
      name: 'refund',
      meanMs: 1_500,
      run: async () => {
        const paid = stripe
          .list('checkout.session')
          .filter(({ mode, status }) => mode === 'payment' && status === 'complete');
        if (paid.length === 0) return;
        const { client_reference_id: session_id, metadata, amount_total } = random.pick(paid);
        const body = {
          session_id,
          refund_id: globalThis.crypto.randomUUID(),
          amount_micros: someCents(amount_total) * CENT,
        };
        const params = { svc_user_id: metadata['svc_user_id'] ?? '' };
        const refund = () =>
          askBilling('operator', (billing) => billing.call(internalRoutes.refundTopUp, { params, body }));
        count('refund');
        if (random.chance(0.2)) await Promise.allSettled([refund(), refund()]);
        else await refund();
      },
    },
    {
      name: 'reversal at the provider',
      meanMs: 2_000,
      run: async () => {
        const paid = paidPayments(stripe).filter(({ id }) => stripe.rest(id) > 0);
        if (paid.length === 0) return;
        const { id: payment_intent } = random.pick(paid);
        const amount = someCents(stripe.rest(payment_intent));
        if (random.chance(0.5)) stripe.refund(payment_intent, amount);
        else {
          const dispute = { payment_intent, amount, currency: 'eur', status: 'needs_response', metadata: {} };
          stripe.tell('charge.dispute.created', stripe.add('dispute', dispute));
        }
      },
    },
    {
      name: 'end of a reversal',
      meanMs: 2_000,
      run: async () => {
        const disputes = stripe.list('dispute').filter(({ status }) => status === 'needs_response');
        const open = [...disputes, ...stripe.list('refund').filter(({ status }) => status === 'succeeded')];
        if (open.length === 0) return;
        const { id, status } = random.pick(open);
        if (status === 'needs_response') {
          stripe.update(id, { status: random.chance(DISPUTE_IS_WON) ? 'won' : 'lost' });
          stripe.tell('charge.dispute.closed', id);
        } else if (random.chance(REFUND_FAILS)) {
          stripe.update(id, { status: 'failed' });
          stripe.tell('refund.failed', id);
        }
      },
    },
  ];
};
