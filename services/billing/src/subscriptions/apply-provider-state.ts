import { isId } from '@svc/contracts';
import type { Knex } from 'knex';
import { findLossSince } from './dispute-queries.ts';
import {
  findLiveSubscription,
  findSubscriptionById,
  findSubscriptionByProvider,
  lockCustomer,
  readNow,
} from './queries.ts';
import { type StateChange, type StoreDeps, storeState } from './store-state.ts';
import { isEnded, type ProviderSubscription, type StoredSubscription } from './subscription.ts';

export interface ReducerDeps extends StoreDeps {
  readonly newId: (prefix: 'sub') => string;
}

/** A state reported by Stripe, with the ticket taken before Stripe was called. */
export interface ReportedState {
  readonly ticket: number;
  readonly state: ProviderSubscription;
}

/**
 * Outcome of applying a reported state. `stale`: a later report has been applied already. `ignored`: the subscription
 * had ended before billing first saw it. `another_live`: by its stored state, the account has another live subscription.
 * The caller must ask for the present state of that one, and end this one only if the other is still live.
 */
export type ReducerOutcome =
  | { readonly outcome: 'applied' | 'unchanged' | 'stale'; readonly subscription: StoredSubscription }
  | { readonly outcome: 'ignored' }
  | { readonly outcome: 'another_live'; readonly live: StoredSubscription };

/**
 * Applies Stripe's report of a subscription, in the caller's transaction. Repeated, late and reordered reports
 * change nothing. Publishes a fact only if receivers can see a difference.
 */
export const applyProviderState = async (
  deps: ReducerDeps,
  trx: Knex.Transaction,
  reported: ReportedState,
): Promise<ReducerOutcome> => {
  const { ticket } = reported;
  const customer = await lockCustomer(trx, reported.state.userId);
  const report = { ticket, state: await asPaid(trx, reported) };
  const { state } = report;
  const stored = await findSubscriptionByProvider(trx, state.providerSubscriptionId);
  if (stored !== undefined && ticket <= stored.providerTicket) return { outcome: 'stale', subscription: stored };
  if (stored === undefined && isEnded(state.status)) return { outcome: 'ignored' };
  if (!isEnded(state.status)) {
    const live = await findLiveSubscription(trx, state.userId);
    if (live !== undefined && live.id !== stored?.id) return { outcome: 'another_live', live };
  }

  const id = stored?.id ?? (await freeId(trx, state)) ?? deps.newId('sub');
  return storeState(deps, trx, { customer, stored, next: merge(report, { id, stored, now: await readNow(trx) }) });
};

/** A payment lost in a dispute counts as unpaid until a later period is paid, or until the dispute is won after all. */
export const asPaid = async (trx: Knex.Transaction, { state }: ReportedState): Promise<ProviderSubscription> => {
  if (isEnded(state.status)) return state;
  const { providerSubscriptionId, periodStart: since } = state;
  const lostAt = await findLossSince(trx, { providerSubscriptionId, since });
  return lostAt === undefined ? state : { ...state, status: 'unpaid', endedAt: lostAt };
};

/** Returns the id that the checkout gave the subscription, unless it was copied to another one at Stripe. */
const freeId = async (trx: Knex.Transaction, { givenId }: ProviderSubscription): Promise<string | undefined> => {
  if (givenId === null || !isId('sub', givenId)) return undefined;
  return (await findSubscriptionById(trx, givenId)) === undefined ? givenId : undefined;
};

const merge = (
  { ticket, state }: ReportedState,
  known: { id: string; stored: StoredSubscription | undefined; now: Date },
): StateChange['next'] => ({
  id: known.id,
  userId: state.userId,
  providerSubscriptionId: state.providerSubscriptionId,
  paidBy: null,
  providerTicket: ticket,
  status: state.status,
  planId: state.planId,
  anchor: state.anchor,
  periodStart: state.periodStart,
  periodEnd: state.periodEnd,
  cancelAtPeriodEnd: state.cancelAtPeriodEnd,
  // Time at which billing first saw this status. The grace period starts here.
  pastDueSince: state.status === 'past_due' ? (known.stored?.pastDueSince ?? known.now) : null,
  endedAt: isEnded(state.status) ? (state.endedAt ?? known.stored?.endedAt ?? known.now) : null,
});
