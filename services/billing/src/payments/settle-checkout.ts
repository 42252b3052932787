import { withOutbox } from '@svc/messaging';
import type { Logger } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { PlanOffer } from '../plans/index.ts';
import {
  applyProviderState,
  lockCustomer,
  nextProviderTicket,
  type ProviderSubscription,
  type ReducerDeps,
} from '../subscriptions/index.ts';
import { creditWallet } from '../wallets/index.ts';
import type { CheckoutSession } from './checkout-session.ts';
import { failAutoTopUp } from './fail-auto-top-up.ts';
import type { ChargeState, CheckoutState, Payment, PaymentProvider } from './provider.ts';
import { lockCheckoutSession, updateProviderSession, updateSessionMismatched, updateSessionStatus } from './queries.ts';

export interface SettleCheckoutDeps extends ReducerDeps {
  readonly database: Knex;
  readonly relay: { hint: () => void };
  readonly provider: PaymentProvider;
  readonly offer: PlanOffer;
  readonly currency: string;
  readonly logger: Logger;
}

/**
 * State of a session after its settlement. `reverted`: another subscription is live, so this one was cancelled and
 * refunded. `mismatched`: the payment differs from the price and had no effect.
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
 * Fetches the state of a checkout from the provider. Once it is paid, starts the subscription or credits the wallet.
 * Idempotent: the confirmation and the provider's events both call it, and only the first call after the payment has an
 * effect.
 */
export const settleCheckout = async (deps: SettleCheckoutDeps, session: CheckoutSession): Promise<SettledCheckout> => {
  if (session.status === 'void') return 'reverted';
  if (session.status !== 'open') return session.status;
  const ticket = await nextProviderTicket(deps.database);
  const state = await readState(deps, session);
  if (state?.status !== 'complete') return endUnpaid(deps, session, state);
  const { paid, subscription } = state;
  const discountMicros = 'discountMicros' in state ? state.discountMicros : 0;
  const settled = await withOutbox(deps, async (trx) => {
    if ('providerSessionId' in state) await updateProviderSession(trx, session.id, state.providerSessionId);
    return applyPaidCheckout(deps, trx, { session, paid, discountMicros, subscription, ticket });
  });
  if (settled === 'reverted' && subscription !== null) {
    // The session stays open until the provider has reverted the subscription, so that the next call retries.
    await deps.provider.revertSubscription(subscription.providerSubscriptionId);
    await updateSessionStatus(deps.database, session.id, { status: 'void' });
  }
  return settled;
};

/** Reads a hosted checkout, or makes an automatic charge unless it is made. Returns undefined if the provider knows none. */
const readState = async (
  { provider, currency }: SettleCheckoutDeps,
  { id, userId, isAutomatic, amountMicros, startedAt, providerSessionId }: CheckoutSession,
): Promise<CheckoutState | ChargeState | undefined> => {
  if (!isAutomatic) return providerSessionId === null ? undefined : provider.readCheckout(providerSessionId);
  if (amountMicros === null) throw new Error('an automatic charge has no amount');
  return provider.chargeSaved({ chargeId: id, userId, amountMicros, currency, startedAt });
};

/** Ends a session that can no longer be paid. */
const endUnpaid = async (
  deps: SettleCheckoutDeps,
  session: CheckoutSession,
  state: Exclude<CheckoutState | ChargeState, { status: 'complete' }> | undefined,
): Promise<'open' | 'expired'> => {
  if (state === undefined || state.status === 'open') return 'open';
  if (state.status === 'failed') await failAutoTopUp(deps, session, state.reason);
  else await updateSessionStatus(deps.database, session.id, { status: 'expired' });
  return 'expired';
};

const applyPaidCheckout = async (
  deps: SettleCheckoutDeps,
  trx: Knex.Transaction,
  checkout: PaidCheckout,
): Promise<SettledCheckout> => {
  const session = await lockCheckoutSession(trx, checkout.session.id);
  if (session === undefined) throw new Error('a checkout session has vanished');
  if (session.status === 'void') return 'reverted';
  if (session.status === 'complete' || session.status === 'mismatched') return session.status;
  const asked = session.asked ?? currentPrice(deps, session);
  if (!isSamePayment(asked, beforeDiscount(checkout, session)))
    return recordMismatch(deps, trx, { ...checkout, session, asked });
  if (session.kind === 'top_up') {
    await creditTopUp(deps, trx, session);
    return 'complete';
  }
  return startSubscription(deps, trx, { ...checkout, session });
};

/** Returns the price of a session that the previous release stored without one; undefined if the plan is gone. */
const currentPrice = ({ offer, currency }: SettleCheckoutDeps, session: CheckoutSession): Payment | undefined => {
  if (session.amountMicros !== null) return { amountMicros: session.amountMicros, currency };
  const price = session.planId === null ? undefined : offer.find(session.planId)?.price;
  return price === undefined ? undefined : { amountMicros: price.amount_micros, currency: price.currency };
};

/** Returns the payment without the discount of a promotion code. Only plans accept codes. */
const beforeDiscount = ({ paid, discountMicros }: PaidCheckout, { kind }: CheckoutSession): Payment | null =>
  kind === 'subscription' && paid !== null ? { ...paid, amountMicros: paid.amountMicros + discountMicros } : paid;

const isSamePayment = (asked: Payment | undefined, paid: Payment | null): boolean =>
  asked !== undefined && asked.amountMicros === paid?.amountMicros && asked.currency === paid.currency;

/** Ends a session whose payment differs from the price, without crediting anything. An operator has to resolve it. */
const recordMismatch = async (
  { logger, provider }: SettleCheckoutDeps,
  trx: Knex.Transaction,
  { session, asked, paid, subscription }: PaidCheckout & { readonly asked: Payment | undefined },
): Promise<'mismatched'> => {
  const providerSubscriptionId = subscription?.providerSubscriptionId ?? null;
  await updateSessionMismatched(trx, session.id, { paid, providerSubscriptionId });
  const price = asked === undefined ? 'an unknown price' : `${asked.amountMicros} ${asked.currency}`;
  logger.error(
    {
      checkout_session_id: session.id,
      user_id: session.userId,
      provider: provider.name,
      amount_micros: paid?.amountMicros,
      currency: paid?.currency,
      reason: `price: ${price}`,
    },
    'a payment differs from the price; it has no effect',
  );
  return 'mismatched';
};

const startSubscription = async (
  deps: SettleCheckoutDeps,
  trx: Knex.Transaction,
  { session, subscription, ticket }: PaidCheckout,
): Promise<'complete' | 'reverted'> => {
  if (subscription === null) throw new Error('the provider reports a paid checkout without its subscription');
  const result = await applyProviderState(deps, trx, { provider: deps.provider.name, ticket, state: subscription });
  if (!('subscription' in result)) return 'reverted';
  await updateSessionStatus(trx, session.id, { status: 'complete', subscriptionId: result.subscription.id });
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
  await creditWallet(trx, { userId, amountMicros, currency: deps.currency, reference });
  await updateSessionStatus(trx, id, { status: 'complete' });
};
