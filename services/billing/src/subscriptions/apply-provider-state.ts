import { events, isId, subscriptionAggregate } from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import type { Knex } from 'knex';
import { findPlanById } from '../plans/index.ts';
import { entitleAccount } from '../reservations/index.ts';
import { findLossSince } from './dispute-queries.ts';
import {
  findLiveSubscription,
  findSubscriptionById,
  findSubscriptionByProvider,
  lockCustomer,
  nextRevision,
  readNow,
  updateCustomer,
  upsertSubscription,
} from './queries.ts';
import { raisePlanNotice } from './raise-plan-notice.ts';
import { buildSnapshot } from './read-snapshot.ts';
import { isEnded, isVisibleChange, type ProviderSubscription, type StoredSubscription } from './subscription.ts';

export interface ReducerDeps {
  readonly newId: (prefix: 'sub') => string;
  readonly pastDueGraceDays: number;
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

  const isCurrent = stored === undefined || !isEnded(state.status) || customer.currentSubscriptionId === stored.id;
  const isVisible = isCurrent && (stored === undefined || isVisibleChange(stored, state));
  const revision = isVisible ? nextRevision(customer) : (stored?.revision ?? customer.revision);
  const subscription = merge(report, {
    id: stored?.id ?? (await freeId(trx, state)) ?? deps.newId('sub'),
    stored,
    revision,
    now: await readNow(trx),
  });
  await upsertSubscription(trx, subscription);
  if (!isCurrent) return { outcome: 'unchanged', subscription };
  await updateCustomer(trx, {
    userId: state.userId,
    revision: Math.max(customer.revision, revision),
    currentSubscriptionId: subscription.id,
    isAnnounced: customer.isAnnounced || isVisible,
  });
  await entitle(trx, subscription);
  if (!isVisible) return { outcome: 'unchanged', subscription };
  await publishState(deps, trx, subscription);
  await raisePlanNotice(deps, trx, { before: stored, after: subscription });
  return { outcome: 'applied', subscription };
};

/** A payment lost in a dispute counts as unpaid until a later period is paid, or until the dispute is won after all. */
const asPaid = async (trx: Knex.Transaction, { state }: ReportedState): Promise<ProviderSubscription> => {
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
  known: { id: string; stored: StoredSubscription | undefined; revision: number; now: Date },
): StoredSubscription => ({
  id: known.id,
  userId: state.userId,
  providerSubscriptionId: state.providerSubscriptionId,
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
  revision: known.revision,
});

const entitle = async (trx: Knex.Transaction, subscription: StoredSubscription): Promise<void> => {
  const plan = await findPlanById(trx, subscription.planId);
  if (plan === undefined) throw new Error(`the plan ${subscription.planId} of a subscription is missing`);
  await entitleAccount(trx, {
    userId: subscription.userId,
    status: subscription.status,
    planId: subscription.planId,
    pastDueSince: subscription.pastDueSince,
    terms: {
      anchor: subscription.anchor,
      interval: plan.interval,
      period: { start: subscription.periodStart, end: subscription.periodEnd },
    },
  });
};

/** Publishes one fact for the revision: a snapshot, or the end of the subscription. */
export const publishState = async (
  deps: Pick<ReducerDeps, 'pastDueGraceDays'>,
  trx: Knex.Transaction,
  subscription: StoredSubscription,
): Promise<void> => {
  const { userId, status, revision, endedAt, periodEnd } = subscription;
  const common = { aggregate: subscriptionAggregate(userId), version: revision };
  if (isEnded(status) && endedAt !== null) {
    await appendToOutbox(trx, {
      ...common,
      subject: events.subscriptionEnded.subject,
      data: {
        svc_user_id: userId,
        status,
        ended_at: endedAt.toISOString(),
        revision,
        current_period_end: periodEnd.toISOString(),
      },
    });
    return;
  }
  const snapshot = await buildSnapshot(trx, subscription, deps.pastDueGraceDays);
  await appendToOutbox(trx, {
    ...common,
    subject: events.subscriptionChanged.subject,
    data: { svc_user_id: userId, ...snapshot },
  });
};
