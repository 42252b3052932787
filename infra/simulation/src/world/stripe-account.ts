import { STRIPE_SANDBOX } from '@svc/contracts';
import { type PaymentIntent, type SendEvent, StripeStandIn, type Subscription } from '@svc/sandbox/stripe';
import type { VirtualTime } from '../engine/virtual-time.ts';
import { PLANS } from './population.ts';

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
