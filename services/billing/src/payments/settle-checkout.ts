import { withOutbox } from '@svc/messaging';
import type { Knex } from 'knex';
import {
  applyProviderState,
  lockCustomer,
  nextProviderTicket,
  type ProviderSubscription,
  type ReducerDeps,
} from '../subscriptions/index.ts';
import { creditWallet } from '../wallets/index.ts';
import type { CheckoutSession } from './checkout-session.ts';
import type { PaymentProvider } from './provider.ts';
import { lockCheckoutSession, updateSessionStatus } from './queries.ts';

/** What completing purchases needs. */
export interface SettleCheckoutDeps extends ReducerDeps {
  readonly database: Knex;
  readonly relay: { hint(): void };
  readonly provider: PaymentProvider;
  readonly currency: string;
}

/** A session as it stands after the provider was asked. `reverted`: another subscription is live, and this one was ended. */
export type SettledCheckout = 'open' | 'expired' | 'complete' | 'reverted';

/**
 * Asks the provider how far a checkout has come and takes the effect of a paid one, once: a subscription, or balance in the
 * wallet. Called by the confirmation and whenever the provider tells of the session; the first one has the effect.
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
  const { subscription } = state;
  const settled = await withOutbox(deps, (trx) => takeEffect(deps, trx, { session, subscription, ticket }));
  if (settled === 'reverted' && subscription !== null) {
    // Only what has been reverted is noted as such: until then whoever asks next tries again.
    await deps.provider.revertSubscription(subscription.providerSubscriptionId);
    await updateSessionStatus(deps.database, session.id, { status: 'void' });
  }
  return settled;
};

const takeEffect = async (
  deps: SettleCheckoutDeps,
  trx: Knex.Transaction,
  paid: { session: CheckoutSession; subscription: ProviderSubscription | null; ticket: number },
): Promise<SettledCheckout> => {
  const session = await lockCheckoutSession(trx, paid.session.id);
  if (session === undefined) throw new Error('a checkout session has vanished');
  if (session.status === 'void') return 'reverted';
  if (session.status === 'complete') return 'complete';
  if (session.kind === 'top_up') {
    await creditTopUp(deps, trx, session);
    return 'complete';
  }
  if (paid.subscription === null) throw new Error('a subscription was paid for, but the provider has made none');
  const told = { provider: deps.provider.name, ticket: paid.ticket, state: paid.subscription };
  const result = await applyProviderState(deps, trx, told);
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
  // So that the portal opens for whoever has bought anything.
  await lockCustomer(trx, userId);
  await creditWallet(trx, { userId, amountMicros, currency: deps.currency, reference: id });
  await updateSessionStatus(trx, id, { status: 'complete' });
};
