import { withOutbox } from '@svc/messaging';
import type { Knex } from 'knex';
import { applyOrderState, findOrder, findOrderByProvider, followOrder, type StoredOrder } from '../seats/index.ts';
import {
  applyProviderState,
  isEnded,
  isPaidByOwner,
  nextProviderTicket,
  type ReducerDeps,
  type ReportedState,
  type StoredSubscription,
  toGoneState,
} from '../subscriptions/index.ts';
import { readSubscription, type StripeDeps } from './stripe/index.ts';

type RefreshDeps = ReducerDeps & StripeDeps & { readonly relay: { readonly hint: () => void } };

/** A purchase that is stored as live: a plan, a seat, or the seats of an organization. */
export type LivePurchase = StoredSubscription | StoredOrder;

/** Outcome of a report about a plan or about seats. */
export type ReportOutcome =
  | { readonly outcome: 'applied' | 'unchanged' | 'stale'; readonly subscription?: StoredSubscription }
  | { readonly outcome: 'ignored' }
  | { readonly outcome: 'another_live'; readonly live: LivePurchase };

/** Applies Stripe's report of a subscription: a plan of the account, or the seats of an organization. */
export const applyReport = (deps: ReducerDeps, trx: Knex.Transaction, report: ReportedState): Promise<ReportOutcome> =>
  report.state.seats === null ? applyProviderState(deps, trx, report) : applyOrderState(deps, trx, report);

/** Applies Stripe's report of a subscription. The seats of members follow that of their organization. */
export const applyAndFollow = async (deps: RefreshDeps, report: ReportedState): Promise<ReportOutcome> => {
  const result = await withOutbox(deps, (trx) => applyReport(deps, trx, report));
  if (report.state.seats === null) return result;
  // If a later report was applied already, its seats may not follow yet.
  const order = await findOrderByProvider(deps.database, report.state.providerSubscriptionId);
  if (order !== undefined) await followOrder(deps, order.id);
  return result;
};

/**
 * Asks Stripe for the present state of a purchase that is stored as live, and applies it. One that Stripe does not know has
 * ended. Returns true if it is live no more. A seat is as live as it is stored.
 */
export const refreshLive = async (deps: RefreshDeps, live: LivePurchase): Promise<boolean> => {
  const gone = toGone(live);
  if (gone === undefined) return false;
  const ticket = await nextProviderTicket(deps.database);
  const state = (await readSubscription(deps, gone.providerSubscriptionId)) ?? gone;
  const result = await applyAndFollow(deps, { ticket, state });
  if ('organizationId' in live) return (await findOrder(deps.database, live.id))?.endedAt != null;
  return 'subscription' in result && result.subscription !== undefined && isEnded(result.subscription.status);
};

const toGone = (live: LivePurchase) => {
  if ('organizationId' in live) {
    const owner = { userId: live.organizationId, paidBy: null, revision: 1 };
    return { ...toGoneState({ ...live, ...owner }), seats: live.quantity };
  }
  return isPaidByOwner(live) ? toGoneState(live) : undefined;
};
