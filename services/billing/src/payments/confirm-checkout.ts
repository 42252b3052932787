import type { checkoutConfirmedSchema } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import type { z } from 'zod';
import { readSubscription } from '../subscriptions/index.ts';
import { readWallet } from '../wallets/index.ts';
import { findCheckoutSession } from './queries.ts';
import { type SettleCheckoutDeps, settleCheckout } from './settle-checkout.ts';

/**
 * Confirms a purchase and answers what was bought; confirming again answers the same. Throws `not_found` for somebody
 * else's session, `checkout_not_completed` for one that is not paid, and `subscription_already_active` for one that was paid
 * when another subscription was live already: it has been reverted.
 */
export const confirmCheckout = async (
  deps: SettleCheckoutDeps,
  userId: string,
  sessionId: string,
): Promise<z.input<typeof checkoutConfirmedSchema>> => {
  const session = await findCheckoutSession(deps.database, sessionId);
  if (session === undefined || session.userId !== userId) throw new AppError('not_found');
  const settled = await settleCheckout(deps, session);
  if (settled === 'reverted') throw new AppError('subscription_already_active');
  if (settled !== 'complete') throw new AppError('checkout_not_completed');
  if (session.kind === 'top_up') {
    return { subscription: null, wallet: await readWallet(deps.database, userId, deps.currency) };
  }
  const { subscriptionId } = (await findCheckoutSession(deps.database, sessionId)) ?? session;
  if (subscriptionId === null) throw new Error('a completed checkout has no subscription');
  return { subscription: await readSubscription(deps.database, subscriptionId) };
};
