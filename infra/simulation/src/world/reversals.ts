import { internalRoutes, routes } from '@svc/contracts';
import { createBillingCalls } from './billing-calls.ts';
import type { HostedPayment } from './payment-service.ts';
import type { Activity, WorkloadParts } from './workload.ts';

/** Micros in one cent, and in one unit of the currency. */
const CENT = 10_000;
const UNIT = 1_000_000;
/** Greatest sum of automatic charges in a month. Always the same, so that the charges of a month can be checked. */
export const MONTHLY_MAX_MICROS = 12 * UNIT;
const REFUND_FAILS = 0.15;
const DISPUTE_IS_WON = 0.4;

/** Activities that set automatic top-ups, and that take payments back. */
export const reversalsOf = (parts: WorkloadParts): Activity[] => {
  const { surroundings, provider, population } = parts;
  const { random, count } = surroundings;
  const { askBilling, callerOf } = createBillingCalls(parts);
  const payments = (): readonly HostedPayment[] =>
    [...provider.payments.values()].filter(({ status }) => status === 'succeeded');
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
        const paid = [...provider.sessions.values()].filter(
          ({ mode, status }) => mode === 'payment' && status === 'complete',
        );
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
        const paid = payments().filter(({ id }) => provider.rest(id) > 0);
        if (paid.length === 0) return;
        const { id } = random.pick(paid);
        const kind = random.chance(0.5) ? 'refund' : 'dispute';
        provider.reverse({ kind, payment_intent: id, amount: someCents(provider.rest(id)), metadata: {} });
      },
    },
    {
      name: 'end of a reversal',
      meanMs: 2_000,
      run: async () => {
        const open = provider.reversals.filter(({ status }) => status === 'succeeded' || status === 'needs_response');
        if (open.length === 0) return;
        const reversal = random.pick(open);
        if (reversal.kind === 'dispute') {
          provider.changeReversal(reversal, random.chance(DISPUTE_IS_WON) ? 'won' : 'lost');
        } else if (random.chance(REFUND_FAILS)) provider.changeReversal(reversal, 'failed');
      },
    },
  ];
};
