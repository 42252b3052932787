import { events } from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import type { Knex } from 'knex';
import { findPlanById } from '../plans/index.ts';
import { entitleAccount } from '../reservations/index.ts';
import {
  findLiveSubscription,
  findSubscriptionByProvider,
  lockCustomer,
  nextRevision,
  readNow,
  updateCustomer,
  upsertSubscription,
} from './queries.ts';
import { buildSnapshot } from './read-snapshot.ts';
import {
  isEnded,
  isVisibleChange,
  type ProviderName,
  type ProviderSubscription,
  type StoredSubscription,
} from './subscription.ts';

export interface ReducerDeps {
  readonly newId: (prefix: 'sub') => string;
  readonly pastDueGraceDays: number;
}

/** A state reported by a provider, with the ticket taken before the provider was called. */
export interface ReportedState {
  readonly provider: ProviderName;
  readonly ticket: number;
  readonly state: ProviderSubscription;
}

/**
 * Outcome of applying a reported state. `stale`: a later report has been applied already. `ignored`: the subscription
 * had ended before billing first saw it. `another_live`: the account has another live subscription, so the caller must
 * end this one.
 */
export type ReducerOutcome =
  | { readonly outcome: 'applied' | 'unchanged' | 'stale'; readonly subscription: StoredSubscription }
  | { readonly outcome: 'ignored' | 'another_live' };

/**
 * Applies a provider's report of a subscription, in the caller's transaction. Repeated, late and reordered reports
 * change nothing. Publishes a fact only if receivers can see a difference.
 */
export const applyProviderState = async (
  deps: ReducerDeps,
  trx: Knex.Transaction,
  report: ReportedState,
): Promise<ReducerOutcome> => {
  const { provider, ticket, state } = report;
  const customer = await lockCustomer(trx, state.userId);
  const stored = await findSubscriptionByProvider(trx, provider, state.providerSubscriptionId);
  if (stored !== undefined && ticket <= stored.providerTicket) return { outcome: 'stale', subscription: stored };
  if (stored === undefined && isEnded(state.status)) return { outcome: 'ignored' };
  if (!isEnded(state.status)) {
    const live = await findLiveSubscription(trx, state.userId);
    if (live !== undefined && live.id !== stored?.id) return { outcome: 'another_live' };
  }

  const isCurrent = stored === undefined || !isEnded(state.status) || customer.currentSubscriptionId === stored.id;
  const isVisible = isCurrent && (stored === undefined || isVisibleChange(stored, state));
  const revision = isVisible ? nextRevision(customer) : (stored?.revision ?? customer.revision);
  const subscription = merge(report, {
    id: stored?.id ?? deps.newId('sub'),
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
  return { outcome: 'applied', subscription };
};

const merge = (
  { provider, ticket, state }: ReportedState,
  known: { id: string; stored: StoredSubscription | undefined; revision: number; now: Date },
): StoredSubscription => ({
  id: known.id,
  userId: state.userId,
  provider,
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
  const { userId, status, revision, endedAt } = subscription;
  const common = { aggregate: `subscription:${userId}`, version: revision };
  if (isEnded(status) && endedAt !== null) {
    await appendToOutbox(trx, {
      ...common,
      subject: events.subscriptionEnded.subject,
      data: { svc_user_id: userId, status, ended_at: endedAt.toISOString(), revision },
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
