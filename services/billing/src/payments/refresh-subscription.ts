import { withOutbox } from '@svc/messaging';
import { applyProviderState, findSubscriptionByProvider, nextProviderTicket } from '../subscriptions/index.ts';
import type { HostedSubscription } from './provider.ts';
import { findCheckoutSession, isMismatchedSubscription, listOpenSubscriptionCheckouts } from './queries.ts';
import { type SettleCheckoutDeps, settleCheckout } from './settle-checkout.ts';

/**
 * Fetches the latest state of a subscription from the provider and applies it. Every event about a subscription ends
 * here, so duplicate, late, reordered and lost events do no harm.
 */
export const refreshSubscription = async (deps: SettleCheckoutDeps, providerSubscriptionId: string): Promise<void> => {
  const ticket = await nextProviderTicket(deps.database);
  const state = await deps.provider.readSubscription(providerSubscriptionId);
  if (state === undefined) return;
  if (!(await isKnown(deps, state)) && (await settleOrigin(deps, state))) return;
  const report = { provider: deps.provider.name, ticket, state };
  const { outcome } = await withOutbox(deps, (trx) => applyProviderState(deps, trx, report));
  if (outcome === 'another_live') await deps.provider.revertSubscription(providerSubscriptionId);
};

const isKnown = async ({ database, provider }: SettleCheckoutDeps, state: HostedSubscription): Promise<boolean> =>
  (await findSubscriptionByProvider(database, provider.name, state.providerSubscriptionId)) !== undefined;

/**
 * Settles the checkout that started a subscription, because only the checkout compares the payment with the price.
 * Returns true if a checkout decided on the subscription, and false if the caller has to apply its state.
 */
const settleOrigin = async (deps: SettleCheckoutDeps, state: HostedSubscription): Promise<boolean> => {
  const { database, provider } = deps;
  const origin = state.sessionId === null ? undefined : await findCheckoutSession(database, state.sessionId);
  if (origin !== undefined && origin.userId === state.userId) {
    await settleCheckout(deps, origin);
    // A complete session without its subscription is left over from a restored database.
    return origin.status !== 'complete';
  }
  // No checkout is named: the previous release started the subscription, or an operator created it at the provider.
  for (const session of await listOpenSubscriptionCheckouts(database, state.userId, provider.name)) {
    await settleCheckout(deps, session);
  }
  if (await isKnown(deps, state)) return true;
  return isMismatchedSubscription(database, state.userId, state.providerSubscriptionId);
};
