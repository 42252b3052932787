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
import type { Payment, PaymentProvider } from './provider.ts';
import { lockCheckoutSession, updateSessionMismatched, updateSessionStatus } from './queries.ts';

export interface SettleCheckoutDeps extends ReducerDeps {
  readonly database: Knex;
  readonly relay: { hint(): void };
  readonly provider: PaymentProvider;
  readonly offer: PlanOffer;
  readonly currency: string;
  readonly logger: Logger;
}

/**
 * State of a session after the provider was asked. `reverted`: another subscription is live, so this one was cancelled and
 * refunded. `mismatched`: the payment differs from what was asked and had no effect.
 */
export type SettledCheckout = 'open' | 'expired' | 'complete' | 'reverted' | 'mismatched';

interface PaidCheckout {
  readonly session: CheckoutSession;
  readonly paid: Payment | null;
  readonly subscription: ProviderSubscription | null;
  readonly ticket: number;
}

/**
 * Asks the provider for the state of a checkout and applies a paid one once: starts the subscription or credits the wallet.
 * Both the confirmation and the provider's events call it. Only the first call after the payment has an effect.
 */
export const settleCheckout = async (deps: SettleCheckoutDeps, session: CheckoutSession): Promise<SettledCheckout> => {
  if (session.status === 'void') return 'reverted';
  if (session.status !== 'open') return session.status;
  if (session.providerSessionId === null) return 'open';
  const ticket = await nextProviderTicket(deps.database);
  const state = await deps.provider.readCheckout(session.providerSessionId);
  if (state === undefined) return 'open';
  if (state.status !== 'complete') {
    if (state.status === 'expired') await updateSessionStatus(deps.database, session.id, { status: 'expired' });
    return state.status;
  }
  const { paid, subscription } = state;
  const settled = await withOutbox(deps, (trx) =>
    applyPaidCheckout(deps, trx, { session, paid, subscription, ticket }),
  );
  if (settled === 'reverted' && subscription !== null) {
    // The session stays open until the provider has reverted the subscription, so the next call tries again.
    await deps.provider.revertSubscription(subscription.providerSubscriptionId);
    await updateSessionStatus(deps.database, session.id, { status: 'void' });
  }
  return settled;
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
  if (!isSamePayment(asked, checkout.paid)) return holdBack(deps, trx, { ...checkout, session, asked });
  if (session.kind === 'top_up') {
    await creditTopUp(deps, trx, session);
    return 'complete';
  }
  return startSubscription(deps, trx, { ...checkout, session });
};

/** Returns the price of a session that the previous release started, which kept none; undefined if the plan is gone. */
const currentPrice = ({ offer, currency }: SettleCheckoutDeps, session: CheckoutSession): Payment | undefined => {
  if (session.amountMicros !== null) return { amountMicros: session.amountMicros, currency };
  const price = session.planId === null ? undefined : offer.find(session.planId)?.price;
  return price === undefined ? undefined : { amountMicros: price.amount_micros, currency: price.currency };
};

const isSamePayment = (asked: Payment | undefined, paid: Payment | null): boolean =>
  asked !== undefined && asked.amountMicros === paid?.amountMicros && asked.currency === paid.currency;

/** Keeps a payment that differs from what was asked away from wallets and subscriptions. An operator must look at it. */
const holdBack = async (
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
      reason: `asked: ${price}`,
    },
    'a payment differs from what was asked; it has no effect',
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
  const { id, userId, amountMicros } = session;
  if (amountMicros === null) throw new Error('a top-up has no amount');
  // The portal opens only for customers.
  await lockCustomer(trx, userId);
  await creditWallet(trx, { userId, amountMicros, currency: deps.currency, reference: id });
  await updateSessionStatus(trx, id, { status: 'complete' });
};
