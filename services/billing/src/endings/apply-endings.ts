import { type PaymentProvider, refreshSubscription, type SettleCheckoutDeps } from '../payments/index.ts';
import { findLiveSubscription } from '../subscriptions/index.ts';
import {
  type AccountEnding,
  deferEnding,
  listWaitingEndings,
  markEndingApplied,
  updateCancelledSubscription,
} from './queries.ts';

/** Endings per call. */
const WAITING_MAX = 50;

/**
 * Tells the payment provider of accounts that are to be deleted, kept or erased, and applies what follows. Every step is
 * idempotent, so a crash repeats it. Throws the first failure, after all others were tried.
 */
export const applyEndings = async (deps: SettleCheckoutDeps): Promise<void> => {
  const failures: unknown[] = [];
  for (const ending of await listWaitingEndings(deps.database, WAITING_MAX)) {
    try {
      await applyEnding(deps, ending);
      await markEndingApplied(deps.database, ending);
    } catch (error) {
      failures.push(error);
      await deferEnding(deps.database, ending.userId);
    }
  }
  if (failures.length > 0) throw failures[0];
};

const applyEnding = async (deps: SettleCheckoutDeps, ending: AccountEnding): Promise<void> => {
  const { database, provider } = deps;
  const { userId, wanted, cancelledSubscriptionId } = ending;
  const live = await findLiveSubscription(database, userId);
  const change = async (tell: (provider: PaymentProvider, id: string) => Promise<void>): Promise<void> => {
    if (live === undefined || live.provider !== provider.name) return;
    await tell(provider, live.providerSubscriptionId);
    await refreshSubscription(deps, live.providerSubscriptionId);
  };
  switch (wanted) {
    case 'cancel':
      if (live === undefined || live.cancelAtPeriodEnd) return;
      await updateCancelledSubscription(database, userId, live.id);
      await change((to, id) => to.setCancelAtPeriodEnd(id, true));
      return;
    case 'keep':
      // One that its owner had cancelled before stays cancelled.
      if (live?.id === cancelledSubscriptionId) await change((to, id) => to.setCancelAtPeriodEnd(id, false));
      await updateCancelledSubscription(database, userId, null);
      return;
    case 'erase':
      await change((to, id) => to.endSubscription(id));
      await provider.forgetCustomer(userId);
  }
};
