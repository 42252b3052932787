import type { AutoTopUpFailure } from '@svc/contracts';
import { Stripe } from 'stripe';
import { findCustomer, findCustomerId, localeOf, TOP_UP_NAMES } from './customers.ts';
import { type Payment, toMinorUnits, toPayment } from './minor-units.ts';
import { askForOne, askStripe, idOf, isMissing, keySince, type StripeDeps } from './stripe-client.ts';

/** A charge of the saved payment method, without the customer. `chargeId` is the idempotency key. */
export interface SavedCharge extends Payment {
  readonly chargeId: string;
  readonly userId: string;
  readonly startedAt: Date;
}

/** Reason of a failed charge. */
export type ChargeFailure = AutoTopUpFailure['reason'];

/** Progress of a charge. A failed one stays failed: it cannot be paid later. */
export type ChargeState =
  | { readonly status: 'open' }
  | { readonly status: 'failed'; readonly reason: ChargeFailure }
  | {
      readonly status: 'complete';
      /** Id of the payment at Stripe. */
      readonly providerSessionId: string;
      readonly paid: Payment | null;
      readonly subscription: null;
    };

/** Metadata key of a payment, holding the id of its charge. */
export const CHARGE_KEY = 'svc_charge_id';
/** Payments of one customer since the start of a charge, or of a month. */
export const PAYMENTS_MAX = 1_000;
const CARDS_MAX = 100;
/** Maximum difference between Stripe's clock and ours. */
export const CLOCK_SKEW_SECONDS = 600;

/** Returns the time from which to list objects at Stripe, in its seconds. */
export const secondsBefore = (moment: Date): number => Math.floor(moment.getTime() / 1000) - CLOCK_SKEW_SECONDS;

/** Returns true if the customer has a card that can be charged without them. */
export const hasPaymentMethod = async (deps: StripeDeps, userId: string): Promise<boolean> =>
  (await findCard(deps, userId)) !== undefined;

/**
 * Finds the payment of a charge and returns its state; undefined if Stripe knows none. A payment that failed is cancelled,
 * so that nothing can complete it later. `paymentId` is its id, if an event has named it: the account may have another
 * customer by now, who has not paid it.
 */
export const findCharge = async (
  deps: StripeDeps,
  { paymentId, ...charge }: SavedCharge & { readonly paymentId: string | null },
): Promise<ChargeState | undefined> => {
  const payment =
    paymentId === null
      ? await findPayment(deps, charge)
      : await askForOne(() => deps.stripe.paymentIntents.retrieve(paymentId));
  return payment && toChargeState(deps, payment);
};

/** Finds the payment among those of the customer. An idempotency key expires after a day, their list does not. */
const findPayment = async (
  { database, stripe }: StripeDeps,
  { chargeId, userId, startedAt }: SavedCharge,
): Promise<Stripe.PaymentIntent | undefined> => {
  const customer = await findCustomerId(database, userId);
  if (customer === undefined) return undefined;
  const query = { customer, created: { gte: secondsBefore(startedAt) }, limit: 100 };
  const payments = await askForOne(() => stripe.paymentIntents.list(query).autoPagingToArray({ limit: PAYMENTS_MAX }));
  return payments?.find(({ metadata }) => metadata?.[CHARGE_KEY] === chargeId);
};

/**
 * Charges the saved card, for a charge that is made for the first time, and not long after `newAt`. A request that Stripe
 * refuses is a charge that failed: it would be refused again.
 */
export const chargeSaved = async (
  deps: StripeDeps,
  charge: SavedCharge & { readonly newAt: Date },
): Promise<ChargeState> => {
  const payment = await createPayment(deps, charge);
  return typeof payment === 'string' ? { status: 'failed', reason: payment } : toChargeState(deps, payment);
};

/** Finds the customer's default payment method if it is a card, or without a default the card saved last. */
const findCard = async (
  deps: StripeDeps,
  userId: string,
): Promise<{ customer: Stripe.Customer; method: string } | undefined> => {
  const customer = await findCustomer(deps, userId);
  if (customer === undefined) return undefined;
  const cards = await askStripe(() =>
    deps.stripe.customers.listPaymentMethods(customer.id, { type: 'card', limit: CARDS_MAX }),
  );
  const preferred = customer.invoice_settings?.default_payment_method ?? null;
  const card = cards.data.find(({ id }) => preferred === null || id === idOf(preferred));
  return card && { customer, method: card.id };
};

const createPayment = async (
  deps: StripeDeps,
  charge: SavedCharge & { readonly newAt: Date },
): Promise<Stripe.PaymentIntent | ChargeFailure> => {
  const { chargeId, userId, currency, newAt } = charge;
  const saved = await findCard(deps, userId);
  if (saved === undefined) return 'payment_method_missing';
  try {
    return await askStripe(() =>
      deps.stripe.paymentIntents.create(
        {
          amount: toMinorUnits(charge),
          currency: currency.toLowerCase(),
          customer: saved.customer.id,
          payment_method: saved.method,
          allowed_payment_method_types: ['card'],
          off_session: true,
          confirm: true,
          description: TOP_UP_NAMES.automatic[localeOf(saved.customer)],
          metadata: { svc_user_id: userId, [CHARGE_KEY]: chargeId },
        },
        { idempotencyKey: keySince(`charge-${chargeId}`, newAt) },
      ),
    );
  } catch (error) {
    if (isMissing(error)) return 'payment_method_missing';
    if (error instanceof Stripe.errors.StripeInvalidRequestError) return 'declined';
    if (!(error instanceof Stripe.errors.StripeCardError)) throw error;
    return error.payment_intent ?? failureOf(error.code);
  }
};

const toChargeState = async (deps: StripeDeps, payment: Stripe.PaymentIntent): Promise<ChargeState> => {
  const { id, status, amount_received: amount, currency } = payment;
  if (status === 'succeeded') {
    return { status: 'complete', providerSessionId: id, paid: toPayment(amount, currency), subscription: null };
  }
  if (status === 'processing') return { status: 'open' };
  if (status !== 'canceled') return toChargeState(deps, await cancelPayment(deps, payment));
  return { status: 'failed', reason: failureOf(payment.last_payment_error?.code) };
};

/** Cancels a payment and returns its final state: it may have succeeded in the meantime. */
const cancelPayment = async (
  { stripe }: StripeDeps,
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
