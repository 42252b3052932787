import type { checkoutConfirmedSchema } from '@svc/contracts';
import { recordAct } from '@svc/database';
import { type Act, AppError } from '@svc/service-kit';
import type { z } from 'zod';
import { type JobDeps, listDeferredItems, runItems, UnreadableObject } from '../jobs.ts';
import { readSubscription, type SubscriptionDeps } from '../subscriptions/index.ts';
import { readWallet } from '../wallets.ts';
import {
  type CheckoutSession,
  findCheckoutSession,
  listOverdueCheckouts,
  updateSessionConfirmed,
  updateSessionStatus,
} from './checkout-sessions.ts';
import { readState, type SettleCheckoutDeps, type SettledCheckout, settleCheckout } from './settle-checkout.ts';

const UNREADABLE =
  'The payment provider reports this purchase in a form that is not understood yet. Support is looking into it.';
const MISMATCHED = 'The payment differs from the price, so nothing was credited. Support is looking into it.';

/**
 * Confirms a purchase and returns the subscription or the wallet. Idempotent. Throws `not_found` for a session of
 * another account, `checkout_not_completed` if the session is unpaid, cannot be read or differs from the price, and
 * `subscription_already_active` if the purchase was reverted because another subscription was live.
 */
export const confirmCheckout = async (
  deps: SettleCheckoutDeps & SubscriptionDeps,
  { userId, act }: { readonly userId: string; readonly act: Act },
  sessionId: string,
): Promise<z.input<typeof checkoutConfirmedSchema>> => {
  const session = await findCheckoutSession(deps.database, sessionId);
  if (session === undefined || session.userId !== userId) throw new AppError('not_found');
  const settled = await settle(deps, session);
  if (settled === 'reverted') throw new AppError('subscription_already_active');
  if (settled === 'mismatched') throw new AppError('checkout_not_completed', MISMATCHED);
  if (settled !== 'complete') throw new AppError('checkout_not_completed');
  await deps.database.transaction(async (trx) => {
    if (await updateSessionConfirmed(trx, sessionId)) await recordAct(trx, act, toTarget(session));
    else act.changedNothing();
  });
  if (session.kind === 'seats') return { subscription: null };
  if (session.kind === 'top_up') {
    return { subscription: null, wallet: await readWallet(deps.database, userId, deps.currency) };
  }
  const { subscriptionId } = (await findCheckoutSession(deps.database, sessionId)) ?? session;
  if (subscriptionId === null) throw new Error('a completed checkout has no subscription');
  return { subscription: await readSubscription(deps, subscriptionId) };
};

const toTarget = ({ id, planId }: CheckoutSession) => ({ type: 'checkout', id, name: planId });

const settle = async (deps: SettleCheckoutDeps, session: CheckoutSession): Promise<SettledCheckout> => {
  try {
    return await settleCheckout(deps, session);
  } catch (error) {
    if (!(error instanceof UnreadableObject)) throw error;
    throw new AppError('checkout_not_completed', UNREADABLE, { cause: error });
  }
};

/** Checkouts per call. The next call takes the rest. */
const CHECKOUTS_MAX = 50;

/**
 * Settles hosted checkouts whose end no event and no confirmation has told, and those that could not be read before. One
 * that Stripe does not know expires: its creation failed, or it belongs to another key.
 */
export const settleOldCheckouts = async (deps: SettleCheckoutDeps & JobDeps): Promise<void> => {
  const { database } = deps;
  const ids = new Set([
    ...(await listOverdueCheckouts(database, CHECKOUTS_MAX)),
    ...(await listDeferredItems(database, 'checkouts', CHECKOUTS_MAX)),
  ]);
  await runItems(deps, 'checkouts', [...ids], async (id) => {
    const session = await findCheckoutSession(database, id);
    if (session === undefined || session.isAutomatic) return;
    const isKnown = session.status !== 'open' || (await readState(deps, session)) !== undefined;
    if (isKnown) await settleCheckout(deps, session);
    else await updateSessionStatus(database, id, { status: 'expired' });
  });
};
