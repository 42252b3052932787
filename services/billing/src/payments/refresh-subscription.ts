import { withOutbox } from '@svc/messaging';
import { applyProviderState, nextProviderTicket } from '../subscriptions/index.ts';
import type { SettleCheckoutDeps } from './settle-checkout.ts';

/**
 * Asks the provider for the latest state of a subscription and takes it over. Whatever the provider tells of a subscription
 * leads here, so messages may come twice, late, out of order or never.
 */
export const refreshSubscription = async (deps: SettleCheckoutDeps, providerSubscriptionId: string): Promise<void> => {
  const ticket = await nextProviderTicket(deps.database);
  const state = await deps.provider.readSubscription(providerSubscriptionId);
  if (state === undefined) return;
  const told = { provider: deps.provider.name, ticket, state };
  const { outcome } = await withOutbox(deps, (trx) => applyProviderState(deps, trx, told));
  if (outcome === 'another_live') await deps.provider.revertSubscription(providerSubscriptionId);
};
