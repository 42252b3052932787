import { events } from '@svc/contracts';
import { appendToOutbox, withOutbox } from '@svc/messaging';
import type { Logger } from '@svc/service-kit';
import type { Knex } from 'knex';
import {
  lockCustomer,
  nextProviderTicket,
  type ProviderSubscription,
  type ReducerDeps,
} from '../subscriptions/index.ts';
import { creditWallet } from '../wallets.ts';
import { disableAutoTopUp } from './auto-top-up-queries.ts';
import type { CheckoutSession } from './checkout-sessions.ts';
import {
  lockCheckoutSession,
  updateProviderSession,
  updateSessionMismatched,
  updateSessionStatus,
} from './checkout-sessions.ts';
import { applyReport, type LivePurchase, refreshLive } from './refresh-live.ts';
import {
  type ChargeFailure,
  type ChargeState,
  type CheckoutState,
  chargeSaved,
  findCharge,
  type Payment,
  type ProviderMeters,
  readCheckout,
  revertSubscription,
  type SavedCharge,
  type StripeDeps,
} from './stripe/index.ts';

/** Ends an automatic charge that failed, turns automatic top-ups off and publishes that, once. */
const failAutoTopUp = async (
  deps: { readonly database: Knex; readonly relay: { readonly hint: () => void }; readonly currency: string },
  { id, userId, amountMicros }: CheckoutSession,
  reason: ChargeFailure,
): Promise<void> => {
  await withOutbox(deps, async (trx) => {
    const session = await lockCheckoutSession(trx, id);
    if (session?.status !== 'open') return;
    await updateSessionStatus(trx, id, { status: 'expired' });
    await disableAutoTopUp(trx, userId);
    await appendToOutbox(trx, {
      subject: events.autoTopUpFailed.subject,
      aggregate: `auto_top_up:${id}`,
      version: 1,
      data: { svc_user_id: userId, amount_micros: amountMicros ?? 0, currency: deps.currency, reason },
    });
  });
};

export interface SettleCheckoutDeps extends ReducerDeps, StripeDeps {
  readonly relay: { hint: () => void };
  readonly providerMeters: Pick<ProviderMeters, 'checkoutPaid'>;
  readonly currency: string;
  readonly logger: Logger;
}

/**
 * State of a session after its settlement. `expired`: it ended without a payment, or its subscription ended before billing
 * saw it. `reverted`: another subscription is live, so this one was cancelled and refunded. `mismatched`: the payment
 * differs from the price and had no effect.
 */
export type SettledCheckout = 'open' | 'expired' | 'complete' | 'reverted' | 'mismatched';

interface PaidCheckout {
  readonly session: CheckoutSession;
  readonly paid: Payment | null;
  readonly discountMicros: number;
  readonly subscription: ProviderSubscription | null;
  readonly ticket: number;
}

/**
 * Fetches the state of a checkout from Stripe. Once it is paid, starts the subscription or credits the wallet.
 * Charges nothing. Idempotent: the confirmation and Stripe's events both call it, and only the first call after the
 * payment has an effect. An expired session is read again, because a payment may be found late.
 */
export const settleCheckout = async (deps: SettleCheckoutDeps, session: CheckoutSession): Promise<SettledCheckout> => {
  if (session.status === 'void') return 'reverted';
  if (session.status === 'complete' || session.status === 'mismatched') return session.status;
  const ticket = await nextProviderTicket(deps.database);
  const state = await readState(deps, session);
  return applyState(deps, session, { ticket, state });
};

/** Makes an automatic charge that is new since the given moment, and credits it. */
export const settleNewCharge = async (
  deps: SettleCheckoutDeps,
  session: CheckoutSession,
  newAt: Date,
): Promise<SettledCheckout> => {
  const ticket = await nextProviderTicket(deps.database);
  return applyState(deps, session, { ticket, state: await chargeSaved(deps, { ...chargeOf(deps, session), newAt }) });
};

/** Returns what Stripe knows of a session; undefined if it knows nothing. */
export const readState = async (
  deps: SettleCheckoutDeps,
  session: CheckoutSession,
): Promise<CheckoutState | ChargeState | undefined> => {
  const { isAutomatic, providerSessionId } = session;
  if (isAutomatic) return findCharge(deps, { ...chargeOf(deps, session), paymentId: providerSessionId });
  return providerSessionId === null ? undefined : readCheckout(deps, providerSessionId);
};

const chargeOf = (
  { currency }: SettleCheckoutDeps,
  { id, userId, amountMicros, startedAt }: CheckoutSession,
): SavedCharge => {
  if (amountMicros === null) throw new Error('an automatic charge has no amount');
  return { chargeId: id, userId, amountMicros, currency, startedAt };
};

interface ReadCheckout {
  /** Taken before Stripe was asked. */
  readonly ticket: number;
  readonly state: CheckoutState | ChargeState | undefined;
}

const applyState = async (
  deps: SettleCheckoutDeps,
  session: CheckoutSession,
  { ticket, state }: ReadCheckout,
): Promise<SettledCheckout> => {
  if (state?.status !== 'complete') return endUnpaid(deps, session, state);
  const { paid, subscription } = state;
  const discountMicros = 'discountMicros' in state ? state.discountMicros : 0;
  const apply = () =>
    withOutbox(deps, async (trx) => {
      if ('providerSessionId' in state) await updateProviderSession(trx, session.id, state.providerSessionId);
      return applyPaidCheckout(deps, trx, { session, paid, discountMicros, subscription, ticket });
    });
  let settled = await apply();
  if (typeof settled === 'object' && (await refreshLive(deps, settled.live))) settled = await apply();
  if (typeof settled !== 'object') return settled;
  if (subscription !== null) await revertSubscription(deps, subscription.providerSubscriptionId);
  // The session stays open until Stripe has reverted the subscription, so that the next call retries.
  await updateSessionStatus(deps.database, session.id, { status: 'void' });
  return 'reverted';
};

/** Ends a session that can no longer be paid. */
const endUnpaid = async (
  deps: SettleCheckoutDeps,
  session: CheckoutSession,
  state: Exclude<CheckoutState | ChargeState, { status: 'complete' }> | undefined,
): Promise<'open' | 'expired'> => {
  if (session.status === 'expired') return 'expired';
  if (state === undefined || state.status === 'open') return 'open';
  if (state.status === 'failed') await failAutoTopUp(deps, session, state.reason);
  else await updateSessionStatus(deps.database, session.id, { status: 'expired' });
  return 'expired';
};

/** Returns the other subscription if one is live. */
const applyPaidCheckout = async (
  deps: SettleCheckoutDeps,
  trx: Knex.Transaction,
  checkout: PaidCheckout,
): Promise<SettledCheckout | { readonly live: LivePurchase }> => {
  const session = await lockCheckoutSession(trx, checkout.session.id);
  if (session === undefined) throw new Error('a checkout session has vanished');
  if (session.status === 'void') return 'reverted';
  if (session.status === 'complete' || session.status === 'mismatched') return session.status;
  if (!isSamePayment(session.asked, beforeDiscount(checkout, session)))
    return recordMismatch(deps, trx, { ...checkout, session });
  if (session.kind === 'top_up') {
    await creditTopUp(deps, trx, session);
    return 'complete';
  }
  return startSubscription(deps, trx, { ...checkout, session });
};

/** Returns the payment without the discount of a promotion code. Only plans and seats accept codes. */
const beforeDiscount = ({ paid, discountMicros }: PaidCheckout, { kind }: CheckoutSession): Payment | null =>
  kind !== 'top_up' && paid !== null ? { ...paid, amountMicros: paid.amountMicros + discountMicros } : paid;

const isSamePayment = (asked: Payment, paid: Payment | null): boolean =>
  asked.amountMicros === paid?.amountMicros && asked.currency === paid.currency;

/** Ends a session whose payment differs from the price, without crediting anything. An operator has to resolve it. */
const recordMismatch = async (
  { logger }: SettleCheckoutDeps,
  trx: Knex.Transaction,
  { session, paid, subscription }: PaidCheckout,
): Promise<'mismatched'> => {
  const providerSubscriptionId = subscription?.providerSubscriptionId ?? null;
  await updateSessionMismatched(trx, session.id, { paid, providerSubscriptionId });
  logger.error(
    {
      checkout_session_id: session.id,
      user_id: session.userId,
      amount_micros: paid?.amountMicros,
      currency: paid?.currency,
      reason: `price: ${session.asked.amountMicros} ${session.asked.currency}`,
    },
    'a payment differs from the price; it has no effect',
  );
  return 'mismatched';
};

const startSubscription = async (
  deps: SettleCheckoutDeps,
  trx: Knex.Transaction,
  { session, subscription, ticket }: PaidCheckout,
): Promise<'complete' | 'expired' | { readonly live: LivePurchase }> => {
  if (subscription === null) throw new Error('Stripe reports a paid checkout without its subscription');
  const result = await applyReport(deps, trx, { ticket, state: subscription });
  if (result.outcome === 'another_live') return { live: result.live };
  if (result.outcome === 'ignored') {
    await updateSessionStatus(trx, session.id, { status: 'expired' });
    return 'expired';
  }
  // Seats are an order, and none of its subscriptions.
  const subscriptionId = result.subscription?.id;
  await updateSessionStatus(trx, session.id, { status: 'complete', ...(subscriptionId && { subscriptionId }) });
  return 'complete';
};

const creditTopUp = async (
  deps: SettleCheckoutDeps,
  trx: Knex.Transaction,
  session: CheckoutSession,
): Promise<void> => {
  const { id, userId, amountMicros, isAutomatic } = session;
  if (amountMicros === null) throw new Error('a top-up has no amount');
  // Makes the account a customer, for whom the portal opens.
  await lockCustomer(trx, userId);
  const reference = isAutomatic ? `auto_top_up:${id}` : id;
  await creditWallet(trx, { userId, amountMicros, currency: deps.currency, reference, isAutomatic });
  await updateSessionStatus(trx, id, { status: 'complete' });
};
