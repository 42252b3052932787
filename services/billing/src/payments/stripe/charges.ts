import type { Locale } from '@svc/contracts';
import type { Knex } from 'knex';
import { Stripe } from 'stripe';
import type { ChargeFailure, ChargeState, SavedCharge } from '../index.ts';
import { idOf } from './id-of.ts';
import { localeOf, TOP_UP_NAMES } from './language.ts';
import { MICROS_PER_MINOR_UNIT, toMinorUnits } from './minor-units.ts';
import { findCustomerId } from './queries.ts';
import { askStripe } from './stripe-client.ts';

export interface ChargeDeps {
  readonly database: Knex;
  readonly stripe: Stripe;
}

/** Metadata key of a payment, holding the id of its charge. */
export const CHARGE_KEY = 'svc_charge_id';
/** Payments of one customer since the start of a charge. */
const PAYMENTS_MAX = 100;
/** Maximum difference between Stripe's clock and ours. */
export const CLOCK_SKEW_SECONDS = 600;

/** Returns true if the customer has a card that can be charged without them. */
export const hasPaymentMethod = async (deps: ChargeDeps, userId: string): Promise<boolean> =>
  (await findPaymentMethod(deps, userId)) !== undefined;

/**
 * Charges the saved card once per charge id, no matter how late this is retried. A payment that failed is cancelled, so
 * that nothing can complete it later.
 */
export const chargeSaved = async (deps: ChargeDeps, charge: SavedCharge): Promise<ChargeState> => {
  const payment = (await findPayment(deps, charge)) ?? (await createPayment(deps, charge));
  if (typeof payment === 'string') return { status: 'failed', reason: payment };
  return toChargeState(deps, payment);
};

/** Finds the customer's default card, or the one saved last. */
const findPaymentMethod = async (
  { database, stripe }: ChargeDeps,
  userId: string,
): Promise<{ customer: string; method: string; locale: Locale } | undefined> => {
  const customerId = await findCustomerId(database, userId);
  if (customerId === undefined) return undefined;
  const customer = await askStripe(() => stripe.customers.retrieve(customerId));
  if (customer.deleted === true) return undefined;
  const locale = localeOf(customer);
  const preferred = customer.invoice_settings.default_payment_method;
  if (preferred !== null) return { customer: customerId, method: idOf(preferred), locale };
  const cards = await askStripe(() => stripe.customers.listPaymentMethods(customerId, { type: 'card', limit: 1 }));
  const [card] = cards.data;
  return card && { customer: customerId, method: card.id, locale };
};

/** Finds the payment of a charge. An idempotency key expires after a day, the list of payments does not. */
const findPayment = async (
  { database, stripe }: ChargeDeps,
  { chargeId, userId, startedAt }: SavedCharge,
): Promise<Stripe.PaymentIntent | undefined> => {
  const customer = await findCustomerId(database, userId);
  if (customer === undefined) return undefined;
  const since = Math.floor(startedAt.getTime() / 1000) - CLOCK_SKEW_SECONDS;
  const payments = await askStripe(() =>
    stripe.paymentIntents.list({ customer, created: { gte: since }, limit: PAYMENTS_MAX }),
  );
  return payments.data.find(({ metadata }) => metadata[CHARGE_KEY] === chargeId);
};

const createPayment = async (
  deps: ChargeDeps,
  { chargeId, userId, amountMicros, currency }: SavedCharge,
): Promise<Stripe.PaymentIntent | ChargeFailure> => {
  const saved = await findPaymentMethod(deps, userId);
  if (saved === undefined) return 'payment_method_missing';
  try {
    return await askStripe(() =>
      deps.stripe.paymentIntents.create(
        {
          amount: toMinorUnits(amountMicros),
          currency: currency.toLowerCase(),
          customer: saved.customer,
          payment_method: saved.method,
          allowed_payment_method_types: ['card'],
          off_session: true,
          confirm: true,
          description: TOP_UP_NAMES.automatic[saved.locale],
          metadata: { svc_user_id: userId, [CHARGE_KEY]: chargeId },
        },
        { idempotencyKey: `charge-${chargeId}` },
      ),
    );
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeCardError)) throw error;
    return error.payment_intent ?? failureOf(error.code);
  }
};

const toChargeState = async (deps: ChargeDeps, payment: Stripe.PaymentIntent): Promise<ChargeState> => {
  const { id, status, amount_received: amount, currency } = payment;
  if (status === 'succeeded') {
    const paid = { amountMicros: amount * MICROS_PER_MINOR_UNIT, currency: currency.toUpperCase() };
    return { status: 'complete', providerSessionId: id, paid, subscription: null };
  }
  if (status === 'processing') return { status: 'open' };
  if (status !== 'canceled') return toChargeState(deps, await cancelPayment(deps, payment));
  return { status: 'failed', reason: failureOf(payment.last_payment_error?.code) };
};

/** Cancels a payment and returns its final state: it may have succeeded in the meantime. */
const cancelPayment = async (
  { stripe }: ChargeDeps,
  { id, last_payment_error }: Stripe.PaymentIntent,
): Promise<Stripe.PaymentIntent> => {
  try {
    const canceled = await askStripe(() => stripe.paymentIntents.cancel(id));
    return { ...canceled, last_payment_error: canceled.last_payment_error ?? last_payment_error };
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeInvalidRequestError)) throw error;
    const payment = await askStripe(() => stripe.paymentIntents.retrieve(id));
    if (payment.status !== 'succeeded' && payment.status !== 'processing' && payment.status !== 'canceled') throw error;
    return payment;
  }
};

const failureOf = (code: string | undefined): ChargeFailure =>
  code === 'authentication_required' ? 'authentication_required' : 'declined';
