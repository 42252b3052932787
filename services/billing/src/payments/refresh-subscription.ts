import { withOutbox } from '@svc/messaging';
import { applyProviderState, findSubscriptionByProvider, nextProviderTicket } from '../subscriptions/index.ts';
import type { HostedSubscription } from './provider.ts';
import { findCheckoutSession, isMismatchedSubscription, listOpenSubscriptionCheckouts } from './queries.ts';
import { type SettleCheckoutDeps, settleCheckout } from './settle-checkout.ts';

/**
 * Asks the provider for the latest state of a subscription and applies it. Every event about a subscription leads here, so
 * events may come twice, late, out of order or never.
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
 * Settles the checkout that started a subscription, because only the checkout compares the payment with what was asked.
 * Returns true if that decided on the subscription, and false if no checkout here started it.
 */
const settleOrigin = async (deps: SettleCheckoutDeps, state: HostedSubscription): Promise<boolean> => {
  const { database, provider } = deps;
  const origin = state.sessionId === null ? undefined : await findCheckoutSession(database, state.sessionId);
  if (origin !== undefined && origin.userId === state.userId) {
    await settleCheckout(deps, origin);
    // A complete session without its subscription is the remainder of a restored database.
    return origin.status !== 'complete';
  }
  // The subscription names no checkout: the previous release started it, or an operator made it at the provider.
  for (const session of await listOpenSubscriptionCheckouts(database, state.userId, provider.name)) {
    await settleCheckout(deps, session);
  }
  if (await isKnown(deps, state)) return true;
  return isMismatchedSubscription(database, state.userId, state.providerSubscriptionId);
};
