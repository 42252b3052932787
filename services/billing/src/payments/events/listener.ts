import { type JobDeps, putBack, UnreadableObject, type Work } from '../../jobs.ts';
import { findCheckoutSession, updateProviderSession } from '../checkout-sessions.ts';
import { refreshReversals } from '../refresh-reversals.ts';
import { refreshSubscription } from '../refresh-subscription.ts';
import { type SettleCheckoutDeps, settleCheckout } from '../settle-checkout.ts';
import { settleChargeOf, settleLostSession } from '../take-over.ts';
import type { StripeListener } from './receive-event.ts';

/** Dependencies of the listener. */
export type ListenerDeps = SettleCheckoutDeps & JobDeps;

/**
 * Creates the listener for events. An object that cannot be read is put back, and its event counts as handled: Stripe
 * would deliver it for days, and give up an endpoint that keeps failing.
 */
export const createStripeListener = (deps: ListenerDeps): StripeListener => ({
  async checkoutChanged({ sessionId, providerSessionId }) {
    if (sessionId === null) return;
    // The event may arrive before the call that created the session returns.
    await updateProviderSession(deps.database, sessionId, providerSessionId);
    const session = await findCheckoutSession(deps.database, sessionId);
    const place = { work: 'checkouts', item: sessionId } as const;
    if (session === undefined) await orPutBack(deps, place, () => settleLostSession(deps, providerSessionId));
    if (session?.providerSessionId !== providerSessionId) return;
    await orPutBack(deps, place, () => settleCheckout(deps, session));
  },
  subscriptionChanged: (id) =>
    orPutBack(deps, { work: 'subscriptions', item: id }, () => refreshSubscription(deps, id)),
  paymentReversed: (id) => refreshReversals(deps, id),
  chargePaid: (id) => settleChargeOf(deps, id),
});

const orPutBack = async (
  deps: JobDeps,
  place: { readonly work: Work; readonly item: string },
  handle: () => Promise<unknown>,
): Promise<void> => {
  try {
    await handle();
  } catch (error) {
    if (!(error instanceof UnreadableObject)) throw error;
    await putBack(deps, place, error);
  }
};
