import { Stripe } from 'stripe';
import { type Payment, toMinorUnits } from './minor-units.ts';
import { askForOne, askStripe, idOf, keySince, type StripeDeps } from './stripe-client.ts';

/** A partial or full refund of one payment. */
export interface ProviderRefund extends Payment {
  readonly providerSessionId: string;
  readonly refundId: string;
}

/** Maximum refunds of one payment. Ours are identified by their metadata. */
const REFUNDS_MAX = 1_000;

/** Metadata key of a refund, holding our id of it. */
export const REFUND_KEY = 'svc_refund_id';

/**
 * Refunds the payment of a subscription and cancels it. Used for the second of two purchases. Every step is idempotent at
 * any time: Stripe refunds what is left of a payment, and cancels a subscription, once.
 */
export const revertSubscription = async ({ stripe }: { readonly stripe: Stripe }, id: string): Promise<void> => {
  const subscription = await askForOne(() =>
    stripe.subscriptions.retrieve(id, { expand: ['latest_invoice.payments'] }),
  );
  if (subscription === undefined) return;
  const invoice = subscription.latest_invoice;
  const payments = invoice === null || typeof invoice === 'string' ? [] : (invoice.payments?.data ?? []);
  for (const { payment, status } of payments) {
    const { payment_intent } = payment;
    if (status !== 'paid' || payment_intent == null) continue;
    const intent = idOf(payment_intent);
    await unlessRefunded(() =>
      stripe.refunds.create({ payment_intent: intent }, { idempotencyKey: `revert-${intent}` }),
    );
  }
  if (subscription.status === 'canceled' || subscription.status === 'incomplete_expired') return;
  await askForOne(() => stripe.subscriptions.cancel(id, {}, { idempotencyKey: `revert-${id}` }));
};

/** Refunds a part of a checkout's payment, once per refund id, no matter how late it is retried. */
export const refundPayment = async (
  deps: Pick<StripeDeps, 'stripe' | 'clock'>,
  { providerSessionId, refundId, amountMicros, currency }: ProviderRefund,
): Promise<'refunded' | 'refused'> => {
  const { stripe, clock } = deps;
  const intent = await findIntent(stripe, providerSessionId);
  if (intent === undefined) return 'refused';
  const lookedAt = clock();
  const made = await askForOne(() =>
    stripe.refunds.list({ payment_intent: intent, limit: 100 }).autoPagingToArray({ limit: REFUNDS_MAX }),
  );
  const known = made?.find(({ metadata }) => metadata?.[REFUND_KEY] === refundId);
  const refund = known ?? (await create(stripe, intent, { refundId, amountMicros, currency, lookedAt }));
  return refund === 'refused' || refund.status === 'failed' || refund.status === 'canceled' ? 'refused' : 'refunded';
};

/**
 * Returns the payment of a checkout session; undefined if Stripe does not know the session. An automatic charge is stored
 * under the id of its payment.
 */
const findIntent = async (stripe: Stripe, providerSessionId: string): Promise<string | undefined> => {
  if (providerSessionId.startsWith('pi_')) return providerSessionId;
  const session = await askForOne(() => stripe.checkout.sessions.retrieve(providerSessionId));
  return session?.payment_intent == null ? undefined : idOf(session.payment_intent);
};

/** Creates a refund. An invalid request stays invalid, so it counts as refused. */
const create = async (
  stripe: Stripe,
  intent: string,
  {
    refundId,
    amountMicros,
    currency,
    lookedAt,
  }: Pick<ProviderRefund, 'refundId'> & Payment & { readonly lookedAt: Date },
): Promise<Stripe.Refund | 'refused'> => {
  try {
    return await askStripe(() =>
      stripe.refunds.create(
        {
          payment_intent: intent,
          amount: toMinorUnits({ amountMicros, currency }),
          metadata: { [REFUND_KEY]: refundId },
        },
        { idempotencyKey: keySince(`refund-${refundId}`, lookedAt) },
      ),
    );
  } catch (error) {
    if (error instanceof Stripe.errors.StripeInvalidRequestError) return 'refused';
    throw error;
  }
};

const unlessRefunded = async (refund: () => Promise<unknown>): Promise<void> => {
  try {
    await askStripe(refund);
  } catch (error) {
    const isDone = error instanceof Stripe.errors.StripeInvalidRequestError && error.code === 'charge_already_refunded';
    if (!isDone) throw error;
  }
};
