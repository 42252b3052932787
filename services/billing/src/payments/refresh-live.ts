import { withOutbox } from '@svc/messaging';
import {
  applyProviderState,
  isEnded,
  nextProviderTicket,
  type ReducerDeps,
  type StoredSubscription,
  toGoneState,
} from '../subscriptions/index.ts';
import { readSubscription, type StripeDeps } from './stripe/index.ts';

/**
 * Asks Stripe for the present state of a subscription that is stored as live, and applies it. One that Stripe does not
 * know has ended. Returns true if it is live no more.
 */
export const refreshLive = async (
  deps: ReducerDeps & StripeDeps & { readonly relay: { readonly hint: () => void } },
  live: StoredSubscription,
): Promise<boolean> => {
  const ticket = await nextProviderTicket(deps.database);
  const state = (await readSubscription(deps, live.providerSubscriptionId)) ?? toGoneState(live);
  const result = await withOutbox(deps, (trx) => applyProviderState(deps, trx, { ticket, state }));
  return 'subscription' in result && isEnded(result.subscription.status);
};
