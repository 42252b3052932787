import { CHARGE_KEY } from '@svc/billing/src/payments/stripe/index.ts';
import type { PaymentIntent } from '@svc/sandbox/stripe';
import type { WorkloadParts } from '../world/activity.ts';
import { hasLostPayment, MONTHLY_MAX_MICROS } from '../world/stripe-activities.ts';
import type { Checks } from './checks.ts';
import { Violation } from './checks.ts';

const MICROS_PER_CENT = 10_000;

/** Compares automatic charges, refunds and disputes at Stripe with their effects on wallets. */
const unmatchedMoney = async (checks: Checks, { stripe }: WorkloadParts): Promise<string[]> => [
  ...(await unmatchedCharges(checks, stripe.list('payment_intent'))),
  ...(await unmatchedReversals(checks, stripe)),
];

/** Lists accounts whose automatic charges of one month exceed the ceiling. */
const excessiveCharges = async ({ query }: Checks): Promise<string[]> => {
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

/** Checks that nothing is left over once all work has ended: no open request, message, delivery or unmatched purchase. */
export const checkDrained = async (checks: Checks, parts: WorkloadParts): Promise<void> => {
  const faults = [
    ...(await listLeftOver(checks, parts)),
    ...(await deadLetters(checks)),
    ...(await openRequests(checks)),
    ...(await excessiveCharges(checks)),
  ];
  if (faults.length > 0) throw new Violation(faults.join('; '));
};

/** Lists what time alone must bring to an end. */
export const listLeftOver = async (checks: Checks, parts: WorkloadParts): Promise<string[]> => [
  ...(await runningRequests(checks)),
  ...(await unpublishedFacts(checks)),
  ...unsettledMessages(parts),
  ...(await waitingEvents(checks)),
  ...(await unmatchedPurchases(checks, parts)),
  ...(await unmatchedMoney(checks, parts)),
  ...(await staleApps(checks, parts)),
];

/** Lists what is left over, and requests that are not settled at their estimate yet. */
export const listUnsettled = async (checks: Checks, parts: WorkloadParts): Promise<string[]> => [
  ...(await listLeftOver(checks, parts)),
  ...(await openRequests(checks)),
];

const unsettledMessages = ({ surroundings }: WorkloadParts): string[] =>
  surroundings.broker.unsettled().map((message) => `not settled: ${message}`);

const runningRequests = async ({ query }: Checks): Promise<string[]> => [
  ...(await listRequests(query, ['reserved'])),
  ...(await liveLeases(query)),
];

const openRequests = async ({ query }: Checks): Promise<string[]> => [
  ...(await listRequests(query, ['reserved', 'uncertain'])),
  ...(await heldWallets(query)),
];

const liveLeases = async (query: Checks['query']): Promise<string[]> => {
  const rows = await query<{ lease_id: string; holder_id: string }>(
    'billing',
    'SELECT lease_id, holder_id FROM leases WHERE ended_at IS NULL',
  );
  return rows.map(({ lease_id, holder_id }) => `the lease ${lease_id} of ${holder_id} has not ended`);
};

const heldWallets = async (query: Checks['query']): Promise<string[]> => {
  const rows = await query<{ svc_user_id: string; held_micros: string }>(
    'billing',
    'SELECT svc_user_id, held_micros FROM wallets WHERE held_micros <> 0',
  );
  return rows.map(({ svc_user_id, held_micros }) => `the wallet of ${svc_user_id} still holds ${held_micros}`);
};

const listRequests = async (query: Checks['query'], states: readonly string[]): Promise<string[]> => {
  const rows = await query<{ request_id: string; kind: string; state: string; holder_id: string }>(
    'billing',
    `SELECT request_id, kind, state, holder_id FROM reservations WHERE state IN ('${states.join("', '")}') ORDER BY created_at`,
  );
  return rows.map(
    ({ request_id, kind, state, holder_id }) => `${kind} ${request_id} of ${holder_id} is still ${state}`,
  );
};

const unpublishedFacts = async ({ query }: Checks): Promise<string[]> => {
  const faults: string[] = [];
  for (const name of ['billing', 'inference-gateway']) {
    const [row] = await query<{ count: string }>(name, 'SELECT count(*) FROM outbox WHERE published_at IS NULL');
    if (row?.count !== '0') faults.push(`${row?.count} facts of ${name} are not published`);
  }
  return faults;
};

const waitingEvents = async ({ query }: Checks): Promise<string[]> => {
  const rows = await query<{ owner_id: string }>(
    'webhook-dispatcher',
    'SELECT owner_id FROM lanes WHERE done_sequence < last_sequence',
  );
  return rows.map(({ owner_id }) => `events of ${owner_id} are not delivered`);
};

const deadLetters = async ({ query }: Checks): Promise<string[]> => {
  const faults: string[] = [];
  for (const name of ['billing', 'webhook-dispatcher']) {
    const rows = await query<{ consumer: string; error_code: string }>(
      name,
      'SELECT consumer, error_code FROM dead_letters',
    );
    faults.push(...rows.map(({ consumer, error_code }) => `${consumer} gave a message up: ${error_code}`));
  }
  return faults;
};

/** Compares billing with Stripe: every paid session has its one effect, and no account pays for two subscriptions. */
const unmatchedPurchases = async ({ query }: Checks, { stripe }: WorkloadParts): Promise<string[]> => {
  const faults: string[] = [];
  const stored = await query<{ id: string; status: string; svc_user_id: string }>(
    'billing',
    'SELECT provider_subscription_id AS id, status, svc_user_id FROM subscriptions',
  );
  const byId = new Map(stored.map((row) => [row.id, row]));
  const liveOf = new Map<string, number>();
  for (const hosted of stripe.list('subscription')) {
    const known = byId.get(hosted.id);
    const userId = hosted.metadata['svc_user_id'] ?? '';
    const isLost = hasLostPayment(stripe, hosted);
    if (hosted.status !== 'canceled' && !isLost) liveOf.set(userId, (liveOf.get(userId) ?? 0) + 1);
    if (known === undefined && hosted.status !== 'canceled')
      faults.push(`the subscription ${hosted.id} is paid and unknown`);
    // A payment lost in a dispute counts as unpaid, until a later period is paid.
    const isUnpaid = isLost && known?.status === 'unpaid';
    if (known !== undefined && known.status !== hosted.status && !isUnpaid) {
      faults.push(`the subscription ${hosted.id} is ${hosted.status} and recorded as ${known.status}`);
    }
  }
  for (const [userId, count] of liveOf) if (count > 1) faults.push(`${userId} pays for ${count} subscriptions`);
  const credited = await query<{ reference: string; amount: string }>(
    'billing',
    `SELECT p.reference, -e.amount_micros AS amount FROM ledger_postings AS p JOIN ledger_entries AS e ON e.posting_id = p.id
       WHERE e.book = 'payments_received'`,
  );
  const amounts = new Map(credited.map(({ reference, amount }) => [reference, Number(amount)]));
  for (const session of stripe.list('checkout.session')) {
    if (session.mode !== 'payment' || session.status !== 'complete') continue;
    const amount = amounts.get(session.client_reference_id ?? '');
    if (amount !== session.amount_total * 10_000)
      faults.push(`the top-up ${session.client_reference_id} is credited with ${amount}`);
  }
  return faults;
};

/** Compares what each connected app knows of a user's subscription with billing's present state. */
const staleApps = async ({ query }: Checks, { connections, receivers }: WorkloadParts): Promise<string[]> => {
  const rows = await query<{ svc_user_id: string; status: string; plan_id: string; cancel: boolean }>(
    'billing',
    `SELECT c.svc_user_id, s.status, s.plan_id, s.cancel_at_period_end AS cancel FROM customers AS c
       JOIN subscriptions AS s ON s.id = c.current_subscription_id`,
  );
  const byUser = new Map(rows.map((row) => [row.svc_user_id, row]));
  const faults: string[] = [];
  for (const connection of connections.live()) {
    const [userId = '', app = ''] = connection.split(' ');
    const present = byUser.get(userId);
    const told = receivers.logs
      .get(app)
      ?.findLast((event) => event.userId === userId && event.event.startsWith('subscription.'));
    const told_status = told?.data['status'];
    if (present !== undefined && told_status !== present.status) {
      faults.push(`${app} knows the subscription of ${userId} as ${String(told_status)}, it is ${present.status}`);
    }
  }
  return faults;
};
