import { CHARGE_KEY } from '@svc/billing/src/payments/stripe/index.ts';
import type { PaymentIntent } from '@svc/sandbox/stripe';
import { MONTHLY_MAX_MICROS } from '../world/reversals.ts';
import type { WorkloadParts } from '../world/workload.ts';
import type { Checks } from './checks.ts';

const MICROS_PER_CENT = 10_000;

/** Compares automatic charges, refunds and disputes at Stripe with their effects on wallets. */
export const unmatchedMoney = async (checks: Checks, { stripe }: WorkloadParts): Promise<string[]> => [
  ...(await unmatchedCharges(checks, stripe.list('payment_intent'))),
  ...(await unmatchedReversals(checks, stripe)),
];

/** Lists accounts whose automatic charges of one month exceed the ceiling. */
export const excessiveCharges = async ({ query }: Checks): Promise<string[]> => {
  const rows = await query<{ svc_user_id: string; total: string }>(
    'billing',
    `SELECT svc_user_id, sum(amount_micros) AS total FROM checkout_sessions WHERE is_automatic AND status <> 'expired'
       GROUP BY svc_user_id, date_trunc('month', created_at, 'UTC') HAVING sum(amount_micros) > ${MONTHLY_MAX_MICROS}`,
  );
  return rows.map(({ svc_user_id, total }) => `${svc_user_id} was charged ${total} automatically in one month`);
};

const unmatchedCharges = async ({ query }: Checks, payments: readonly PaymentIntent[]): Promise<string[]> => {
  const credited = await query<{ reference: string; amount: string }>(
    'billing',
    `SELECT p.reference, -e.amount_micros AS amount FROM ledger_postings AS p JOIN ledger_entries AS e ON e.posting_id = p.id
       WHERE e.book = 'payments_received' AND p.kind = 'top_up' AND p.reference LIKE 'auto_top_up:%'`,
  );
  const amounts = new Map(credited.map(({ reference, amount }) => [reference, Number(amount)]));
  return payments.flatMap(({ metadata, status, amount }) => {
    const charge = metadata[CHARGE_KEY];
    if (charge === undefined) return [];
    const found = amounts.get(`auto_top_up:${charge}`);
    const expected = status === 'succeeded' ? amount * MICROS_PER_CENT : undefined;
    return found === expected ? [] : [`the automatic charge ${charge} is ${status} and credited with ${found}`];
  });
};

const unmatchedReversals = async ({ query }: Checks, stripe: WorkloadParts['stripe']): Promise<string[]> => {
  const rows = await query<{ id: string; provider_id: string; taken: string }>(
    'billing',
    `SELECT s.id, s.provider_session_id AS provider_id,
         (SELECT coalesce(sum(amount_micros), 0) FROM wallet_refunds AS r WHERE r.session_id = s.id AND r.state <> 'refused')
         + (SELECT coalesce(sum(amount_micros), 0) FROM payment_reversals AS v WHERE v.session_id = s.id) AS taken
       FROM checkout_sessions AS s WHERE s.kind = 'top_up' AND s.status = 'complete'`,
  );
  const sessions = new Map(stripe.list('checkout.session').map((session) => [session.id, session]));
  const payments = new Map(stripe.list('payment_intent').map((payment) => [payment.id, payment]));
  return rows.flatMap(({ id, provider_id, taken }) => {
    const paymentId = sessions.get(provider_id)?.payment_intent ?? provider_id;
    const amount = payments.get(paymentId)?.amount ?? 0;
    const expected = (amount - stripe.rest(paymentId)) * MICROS_PER_CENT;
    return Number(taken) === expected ? [] : [`${taken} of the top-up ${id} are taken back, ${expected} at Stripe`];
  });
};
