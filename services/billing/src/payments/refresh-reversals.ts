import type { Logger } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { Stripe } from 'stripe';
import { isDisputeLost, nextProviderTicket, upsertDispute } from '../subscriptions/index.ts';
import { creditRefusedRefund, reverseTopUp } from '../wallets.ts';
import { disableAutoTopUp } from './auto-top-up-queries.ts';
import type { CheckoutSession } from './checkout-sessions.ts';
import { findCheckoutByProvider, findCheckoutSession, lockCheckoutSession } from './checkout-sessions.ts';
import { refreshSubscription } from './refresh-subscription.ts';
import { lockRefund, type Reversal, updateRefundState, upsertReversal } from './refund-queries.ts';
import { type SettleCheckoutDeps, settleCheckout } from './settle-checkout.ts';
import { askForOne, askStripe, idOf, REFUND_KEY, setCancelAtPeriodEnd, toPayment } from './stripe/index.ts';

/** A reversal as the provider reports it. */
interface ReportedReversal extends Reversal {
  readonly currency: string;
  /** Id of the refund if this service requested it. */
  readonly refundId: string | null;
}

interface ReversalReport {
  readonly sessionId: string;
  /** Taken before the provider was asked. */
  readonly ticket: number;
  readonly reversals: readonly ReportedReversal[];
}

interface ReversalDeps {
  readonly database: Knex;
  readonly logger: Logger;
}

/**
 * Takes refunds and disputes made at the provider from the wallet, and gives back those that failed or were won. Only
 * the latest state of each counts, so reports may be repeated, late or reordered. A dispute turns automatic top-ups off.
 * Sessions that credited nothing are ignored.
 */
const applyReversals = (deps: ReversalDeps, { sessionId, ticket, reversals }: ReversalReport): Promise<void> =>
  deps.database.transaction(async (trx) => {
    const session = await lockCheckoutSession(trx, sessionId);
    if (session?.kind !== 'top_up' || session.status !== 'complete') return;
    for (const reversal of reversals) {
      if (await applyToOwnRefund(trx, session, reversal)) continue;
      await applyReversal(deps, trx, { session, reversal, ticket });
    }
  });

/** Credits a refund of ours that failed after the provider had accepted it. Returns false if the refund is not ours. */
const applyToOwnRefund = async (
  trx: Knex.Transaction,
  { id: sessionId, userId }: CheckoutSession,
  { refundId, amountMicros }: ReportedReversal,
): Promise<boolean> => {
  const refund = refundId === null ? undefined : await lockRefund(trx, refundId);
  if (refundId === null || refund?.sessionId !== sessionId) return false;
  if (refund.state === 'refunded' && amountMicros === 0) {
    await updateRefundState(trx, refundId, 'refused');
    await creditRefusedRefund(trx, { userId, amountMicros: refund.amountMicros, refundId });
  }
  return true;
};

const applyReversal = async (
  { logger }: ReversalDeps,
  trx: Knex.Transaction,
  {
    session,
    reversal,
    ticket,
  }: { readonly session: CheckoutSession; readonly reversal: ReportedReversal; readonly ticket: number },
): Promise<void> => {
  const { id, userId, asked } = session;
  const fields = {
    checkout_session_id: id,
    user_id: userId,
    kind: reversal.kind,
    amount_micros: reversal.amountMicros,
    currency: reversal.currency,
  };
  if (asked !== null && asked.currency !== reversal.currency) {
    logger.error(fields, 'a reversal is in another currency than its payment; it has no effect');
    return;
  }
  const change = await upsertReversal(trx, { userId, sessionId: id }, { ...reversal, ticket });
  if (change === undefined || change.changeMicros === 0) return;
  await reverseTopUp(trx, { ...reversal, ...change, userId });
  if (reversal.kind === 'dispute' && change.changeMicros > 0) await disableAutoTopUp(trx, userId);
  logger.warn(fields, 'a payment was reversed at the provider');
};

/** Refunds, and disputes, of one payment. */
const REVERSALS_MAX = 100;

/** States in which a dispute has taken the payment. Inquiries, whose states begin with `warning`, take nothing. */
const TAKEN: ReadonlySet<string> = new Set(['needs_response', 'under_review', 'lost']);

/**
 * Fetches all refunds and disputes of a payment and applies them: those of a top-up to the wallet, and lost disputes of a
 * subscription's payment to its status. Every event about one ends here, so duplicate, late, reordered and lost events do
 * no harm. Payments that are not of this deployment are ignored.
 */
export const refreshReversals = async (deps: SettleCheckoutDeps, paymentId: string): Promise<void> => {
  const session = await findSessionOfPayment(deps, paymentId);
  if (session?.kind !== 'top_up') return refreshDisputes(deps, paymentId);
  // A refund may overtake the events of its payment.
  await settleCheckout(deps, session);
  const ticket = await nextProviderTicket(deps.database);
  const query = { payment_intent: paymentId, limit: REVERSALS_MAX };
  const refunds = await askStripe(() => deps.stripe.refunds.list(query));
  const disputes = await askStripe(() => deps.stripe.disputes.list(query));
  const reversals = [...refunds.data.flatMap(toRefund), ...disputes.data.flatMap(toDispute)];
  await applyReversals(deps, { sessionId: session.id, ticket, reversals });
};

/**
 * Stores the disputes of a subscription's payment, then refreshes the subscription, whose status they decide. Once a payment
 * is lost, nothing more is charged: the subscription ends with its period, unless its owner resumes it.
 */
const refreshDisputes = async (deps: SettleCheckoutDeps, paymentId: string): Promise<void> => {
  const { database, stripe } = deps;
  const providerSubscriptionId = await findSubscriptionOfPayment(deps, paymentId);
  if (providerSubscriptionId === undefined) return;
  const ticket = await nextProviderTicket(database);
  const disputes = await askStripe(() => stripe.disputes.list({ payment_intent: paymentId, limit: REVERSALS_MAX }));
  for (const { id, status } of disputes.data) {
    const dispute = { id, providerSubscriptionId, isLost: status === 'lost', ticket };
    if (dispute.isLost && !(await isDisputeLost(database, id))) {
      await setCancelAtPeriodEnd(deps, providerSubscriptionId, true);
    }
    await upsertDispute(database, dispute);
  }
  await refreshSubscription(deps, providerSubscriptionId);
};

const findSessionOfPayment = async ({ database, stripe }: SettleCheckoutDeps, paymentId: string) => {
  // Automatic charges are stored under the id of their payment.
  const automatic = await findCheckoutByProvider(database, paymentId);
  if (automatic !== undefined) return automatic;
  const sessions = await askForOne(() => stripe.checkout.sessions.list({ payment_intent: paymentId, limit: 1 }));
  const hosted = sessions?.data[0];
  const id = hosted?.client_reference_id;
  const session = typeof id === 'string' ? await findCheckoutSession(database, id) : undefined;
  return session?.providerSessionId === hosted?.id ? session : undefined;
};

/** Finds the subscription that a payment is for, by the invoice that it pays. */
const findSubscriptionOfPayment = async (
  { stripe }: SettleCheckoutDeps,
  paymentId: string,
): Promise<string | undefined> => {
  const payment = { type: 'payment_intent' as const, payment_intent: paymentId };
  const payments = await askForOne(() => stripe.invoicePayments.list({ payment, limit: 1 }));
  const reference = payments?.data[0]?.invoice;
  if (reference == null) return undefined;
  const invoice = await askForOne(() => stripe.invoices.retrieve(idOf(reference)));
  const subscription = invoice?.parent?.subscription_details?.subscription;
  return subscription == null ? undefined : idOf(subscription);
};

const toRefund = ({ id, amount, currency, status, metadata }: Stripe.Refund): ReportedReversal[] => {
  const isGone = status !== 'failed' && status !== 'canceled';
  return toReversal(id, { kind: 'refund', amount, currency, isGone, refundId: metadata?.[REFUND_KEY] ?? null });
};

const toDispute = ({ id, amount, currency, status }: Stripe.Dispute): ReportedReversal[] =>
  toReversal(id, { kind: 'dispute', amount, currency, isGone: TAKEN.has(status), refundId: null });

/** Returns no reversal for an amount that cannot be read. */
const toReversal = (
  id: string,
  reversal: Pick<ReportedReversal, 'kind' | 'refundId'> & {
    readonly amount: number;
    readonly currency: string;
    /** True if the money is taken back. */
    readonly isGone: boolean;
  },
): ReportedReversal[] => {
  const { kind, amount, currency, isGone, refundId } = reversal;
  const gone = toPayment(isGone ? amount : 0, currency);
  return gone === null ? [] : [{ id, kind, amountMicros: gone.amountMicros, currency: gone.currency, refundId }];
};
