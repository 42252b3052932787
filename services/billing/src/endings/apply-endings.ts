import { type JobDeps, putBack, runItems, UnreadableObject } from '../jobs/index.ts';
import {
  endSubscription,
  forgetCustomer,
  refreshSubscription,
  type SettleCheckoutDeps,
  setCancelAtPeriodEnd,
} from '../payments/index.ts';
import { endSeatOfErased, listLiveOrdersOf, updateCancelledByDeletion } from '../seats/index.ts';
import { findLiveSubscription, isPaidByOwner } from '../subscriptions/index.ts';
import {
  type AccountEnding,
  findWaitingEnding,
  listWaitingEndings,
  markEndingApplied,
  updateCancelledSubscription,
} from './queries.ts';

/** Endings per call. */
const WAITING_MAX = 50;

/**
 * Tells Stripe of accounts that are to be deleted, kept or erased, and applies what follows. Every step is
 * idempotent, so a crash repeats it.
 */
export const applyEndings = async (deps: SettleCheckoutDeps & JobDeps): Promise<void> => {
  const userIds = await listWaitingEndings(deps.database, WAITING_MAX);
  await runItems(deps, 'account_endings', userIds, async (userId) => {
    const ending = await findWaitingEnding(deps.database, userId);
    if (ending === undefined) return;
    await applyToPlan(deps, ending);
    await applyToSeats(deps, ending);
    if (ending.wanted === 'erase') await forgetCustomer(deps, userId);
    await markEndingApplied(deps.database, ending);
  });
};

const applyToPlan = async (deps: SettleCheckoutDeps & JobDeps, ending: AccountEnding): Promise<void> => {
  const { database } = deps;
  const { userId, wanted, cancelledSubscriptionId } = ending;
  const found = await findLiveSubscription(database, userId);
  // A seat ends with its membership. Its organization goes on paying for it.
  if (found !== undefined && !isPaidByOwner(found)) {
    if (wanted === 'erase') await endSeatOfErased(deps, found);
    return;
  }
  const live = found;
  const change = async (tell: (id: string) => Promise<void>): Promise<void> => {
    if (live === undefined) return;
    await tell(live.providerSubscriptionId);
    await refresh(deps, live.providerSubscriptionId);
  };
  switch (wanted) {
    case 'cancel':
      if (live === undefined || live.cancelAtPeriodEnd) return;
      await updateCancelledSubscription(database, userId, live.id);
      await change((id) => setCancelAtPeriodEnd(deps, id, true));
      return;
    case 'keep':
      // One that its owner had cancelled before stays cancelled.
      if (live?.id === cancelledSubscriptionId) await change((id) => setCancelAtPeriodEnd(deps, id, false));
      await updateCancelledSubscription(database, userId, null);
      return;
    case 'erase':
      await change((id) => endSubscription(deps, id));
  }
};

/** Ends, resumes or cancels the seats that an organization pays. */
const applyToSeats = async (deps: SettleCheckoutDeps & JobDeps, { userId, wanted }: AccountEnding): Promise<void> => {
  for (const order of await listLiveOrdersOf(deps.database, userId)) {
    const { id, providerSubscriptionId, cancelAtPeriodEnd, isCancelledByDeletion } = order;
    if (wanted === 'erase') await endSubscription(deps, providerSubscriptionId);
    else if (wanted === 'cancel' ? cancelAtPeriodEnd : !isCancelledByDeletion) continue;
    else {
      await updateCancelledByDeletion(deps.database, id, true);
      await setCancelAtPeriodEnd(deps, providerSubscriptionId, wanted === 'cancel');
      if (wanted === 'keep') await updateCancelledByDeletion(deps.database, id, false);
    }
    await refresh(deps, providerSubscriptionId);
  }
};

/** Refreshes a subscription that was changed. One that cannot be read is put back by itself: the ending is applied. */
const refresh = async (deps: SettleCheckoutDeps & JobDeps, id: string): Promise<void> => {
  try {
    await refreshSubscription(deps, id);
  } catch (error) {
    if (!(error instanceof UnreadableObject)) throw error;
    await putBack(deps, { work: 'subscriptions', item: id }, error);
  }
};
