import { isId } from '@svc/contracts';
import type { Knex } from 'knex';
import {
  findLiveSubscription,
  findSubscriptionById,
  findSubscriptionByProvider,
  lockCustomer,
  readNow,
} from './queries.ts';
import { type StateChange, type StoreDeps, storeState } from './store-state.ts';
import { isEnded, PAID, type ProviderSubscription, type StoredSubscription } from './subscription.ts';

/** A dispute of a payment for a subscription, as Stripe reports it. */
interface SubscriptionDispute {
  readonly id: string;
  readonly providerSubscriptionId: string;
  readonly isLost: boolean;
  /** Taken before Stripe was asked. */
  readonly ticket: number;
}

/** Stores the latest state of a dispute. The time of its loss is the one at which it was first seen lost. */
export const upsertDispute = async (database: Knex, dispute: SubscriptionDispute): Promise<void> => {
  await database.raw(
    `INSERT INTO subscription_disputes AS d (provider_dispute_id, provider_subscription_id, lost_at, provider_ticket)
      VALUES (:id, :providerSubscriptionId, CASE WHEN :isLost THEN billing_now() END, :ticket)
      ON CONFLICT (provider_dispute_id) DO UPDATE SET provider_ticket = excluded.provider_ticket,
        lost_at = CASE WHEN excluded.lost_at IS NULL THEN NULL ELSE coalesce(d.lost_at, excluded.lost_at) END
      WHERE d.provider_ticket < excluded.provider_ticket`,
    { ...dispute },
  );
};

/** Returns true if the dispute is stored as lost. */
export const isDisputeLost = async (database: Knex, id: string): Promise<boolean> => {
  const row = await database('subscription_disputes')
    .where({ provider_dispute_id: id })
    .whereNotNull('lost_at')
    .first('provider_dispute_id');
  return row !== undefined;
};

/** Returns the time of the latest loss, since a moment or at any time; undefined if no payment was lost. */
const findLossSince = async (
  database: Knex,
  { providerSubscriptionId, since }: { readonly providerSubscriptionId: string; readonly since: Date | undefined },
): Promise<Date | undefined> => {
  const row = await database('subscription_disputes')
    .where({ provider_subscription_id: providerSubscriptionId })
    .where('lost_at', '>=', since ?? '-infinity')
    .orderBy('lost_at', 'desc')
    .first('lost_at');
  return row?.lost_at;
};

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
  const stored = await findSubscriptionByProvider(trx, reported.state.providerSubscriptionId);
  const report = { ticket, state: await asPaid(trx, reported, stored) };
  const { state } = report;
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
export const asPaid = async (
  trx: Knex.Transaction,
  { state }: ReportedState,
  stored: Pick<StoredSubscription, 'status'> | undefined,
): Promise<ProviderSubscription> => {
  if (isEnded(state.status)) return state;
  const { providerSubscriptionId, periodStart } = state;
  // A period that has begun, but is not paid, does not make up for an earlier loss.
  const since = stored?.status === 'unpaid' && !PAID.has(state.status) ? undefined : periodStart;
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
