import { internalRoutes, routes } from '@svc/contracts';
import type { Activity, WorkloadParts } from './activity.ts';
import { createBillingCalls } from './activity.ts';
import { paidPayments } from './stripe-activities.ts';

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
