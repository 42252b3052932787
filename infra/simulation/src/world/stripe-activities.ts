import { routes } from '@svc/contracts';
import { createBillingCalls } from './billing-calls.ts';
import type { BillingProcess } from './billing-process.ts';
import type { Activity, WorkloadParts } from './workload.ts';

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
