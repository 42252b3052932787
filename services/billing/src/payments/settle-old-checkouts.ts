import { type JobDeps, listDeferredItems, runItems } from '../jobs.ts';
import { findCheckoutSession, listOverdueCheckouts, updateSessionStatus } from './queries.ts';
import { readState, type SettleCheckoutDeps, settleCheckout } from './settle-checkout.ts';

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
