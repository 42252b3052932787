import type { Knex } from 'knex';
import { UnreadableObject } from '../jobs.ts';
import { findOrderByProvider } from '../seats/index.ts';
import { findSubscriptionByProvider, isEnded, nextProviderTicket, readNow } from '../subscriptions/index.ts';
import { findCheckoutSession, isMismatchedSubscription, listOpenSubscriptionCheckouts } from './checkout-sessions.ts';
import { applyAndFollow, type LivePurchase, refreshLive } from './refresh-live.ts';
import { type SettleCheckoutDeps, settleCheckout } from './settle-checkout.ts';
import { type HostedSubscription, readSubscription, revertSubscription } from './stripe/index.ts';

const DAY_MS = 86_400_000;
/** Days after the end of its paid period for which a subscription that Stripe does not know stays live. */
const MISSING_DAYS = 7;

/**
 * Fetches the latest state of a subscription from Stripe and applies it. Every event about a subscription ends here,
 * so duplicate, late, reordered and lost events do no harm. Returns false if Stripe does not know it, or if it belongs to
 * no account of this deployment.
 */
export const refreshSubscription = async (
  deps: SettleCheckoutDeps,
  providerSubscriptionId: string,
): Promise<boolean> => {
  const ticket = await nextProviderTicket(deps.database);
  const state = await readSubscription(deps, providerSubscriptionId);
  if (state === undefined) return false;
  if (!(await isKnown(deps, state)) && (await settleOrigin(deps, state))) return true;
  const report = { ticket, state };
  const apply = () => applyAndFollow(deps, report);
  let result = await apply();
  if (result.outcome === 'another_live' && (await refreshLive(deps, result.live))) result = await apply();
  if (result.outcome === 'another_live') await revertSubscription(deps, providerSubscriptionId);
  return true;
};

/**
 * Refreshes a subscription that is stored as live. Throws UnreadableObject if Stripe does not know it, as after a
 * change of its key or account. A while after the paid period such a subscription ends, because no payment for it can be proven.
 */
export const refreshStoredSubscription = async (
  deps: SettleCheckoutDeps,
  providerSubscriptionId: string,
): Promise<void> => {
  const { database } = deps;
  if (await refreshSubscription(deps, providerSubscriptionId)) return;
  const stored = await findStored(database, providerSubscriptionId);
  if (stored === undefined || isEnded(stored.status)) return;
  const now = await readNow(database);
  if (now.getTime() > stored.periodEnd.getTime() + MISSING_DAYS * DAY_MS) await refreshLive(deps, stored);
  else throw new UnreadableObject('missing', `Stripe does not know the subscription ${providerSubscriptionId}`);
};

const isKnown = async ({ database }: SettleCheckoutDeps, state: HostedSubscription): Promise<boolean> =>
  (await findStored(database, state.providerSubscriptionId)) !== undefined;

/** Finds the plan or the seats that a subscription at Stripe pays. */
const findStored = async (database: Knex, providerSubscriptionId: string): Promise<LivePurchase | undefined> =>
  (await findSubscriptionByProvider(database, providerSubscriptionId)) ??
  (await findOrderByProvider(database, providerSubscriptionId));

/**
 * Settles the checkout that started a subscription, because only the checkout compares the payment with the price.
 * Returns true if a checkout decided on the subscription, and false if the caller has to apply its state.
 */
const settleOrigin = async (deps: SettleCheckoutDeps, state: HostedSubscription): Promise<boolean> => {
  const { database } = deps;
  const origin = state.sessionId === null ? undefined : await findCheckoutSession(database, state.sessionId);
  if (origin !== undefined && origin.userId === state.userId) {
    await settleCheckout(deps, origin);
    // A complete session without its subscription is left over from a restored database.
    return origin.status !== 'complete';
  }
  // No checkout is named: an operator created the subscription at Stripe.
  for (const session of await listOpenSubscriptionCheckouts(database, state.userId)) {
    await settleCheckout(deps, session);
  }
  if (await isKnown(deps, state)) return true;
  return isMismatchedSubscription(database, state.userId, state.providerSubscriptionId);
};
