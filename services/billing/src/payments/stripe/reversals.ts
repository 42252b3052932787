import type { Stripe } from 'stripe';
import { nextProviderTicket } from '../../subscriptions/index.ts';
import {
  applyReversals,
  findCheckoutByProvider,
  findCheckoutSession,
  type ReportedReversal,
  type SettleCheckoutDeps,
  settleCheckout,
} from '../index.ts';
import { MICROS_PER_MINOR_UNIT } from './minor-units.ts';
import { REFUND_KEY } from './refunds.ts';
import { askStripe } from './stripe-client.ts';

export interface RefreshReversalsDeps extends SettleCheckoutDeps {
  readonly stripe: Stripe;
}

/** Refunds, and disputes, of one payment. */
const REVERSALS_MAX = 100;

/** States in which a dispute has taken the payment. Inquiries, whose states begin with `warning`, take nothing. */
const TAKEN: ReadonlySet<string> = new Set(['needs_response', 'under_review', 'lost']);

/**
 * Fetches all refunds and disputes of a payment and applies them. Every event about one ends here, so duplicate, late,
 * reordered and lost events do no harm. Payments that are no top-up of this deployment are ignored.
 */
export const refreshReversals = async (deps: RefreshReversalsDeps, paymentId: string): Promise<void> => {
  const { database, stripe } = deps;
  const session = await findSessionOfPayment(deps, paymentId);
  if (session === undefined || session.kind !== 'top_up') return;
  // A refund may overtake the events of its payment.
  await settleCheckout(deps, session);
  const ticket = await nextProviderTicket(database);
  const query = { payment_intent: paymentId, limit: REVERSALS_MAX };
  const refunds = await askStripe(() => stripe.refunds.list(query));
  const disputes = await askStripe(() => stripe.disputes.list(query));
  const reversals = [...refunds.data.map(toRefund), ...disputes.data.map(toDispute)];
  await applyReversals(deps, { sessionId: session.id, ticket, reversals });
};

const findSessionOfPayment = async ({ database, stripe }: RefreshReversalsDeps, paymentId: string) => {
  // Automatic charges are stored under the id of their payment.
  const automatic = await findCheckoutByProvider(database, 'stripe', paymentId);
  if (automatic !== undefined) return automatic;
  const sessions = await askStripe(() => stripe.checkout.sessions.list({ payment_intent: paymentId, limit: 1 }));
  const id = sessions.data[0]?.client_reference_id;
  const session = typeof id === 'string' ? await findCheckoutSession(database, id) : undefined;
  return session?.providerSessionId === sessions.data[0]?.id ? session : undefined;
};

const toRefund = ({ id, amount, currency, status, metadata }: Stripe.Refund): ReportedReversal => ({
  id,
  kind: 'refund',
  amountMicros: status === 'failed' || status === 'canceled' ? 0 : amount * MICROS_PER_MINOR_UNIT,
  currency: currency.toUpperCase(),
  refundId: metadata?.[REFUND_KEY] ?? null,
});

const toDispute = ({ id, amount, currency, status }: Stripe.Dispute): ReportedReversal => ({
  id,
  kind: 'dispute',
  amountMicros: TAKEN.has(status) ? amount * MICROS_PER_MINOR_UNIT : 0,
  currency: currency.toUpperCase(),
  refundId: null,
});
