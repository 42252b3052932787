import { events, subscriptionAggregate } from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import type { Knex } from 'knex';
import { findPlanById } from '../plans/index.ts';
import { entitleAccount } from '../reservations/index.ts';
import { type Customer, nextRevision, updateCustomer, upsertSubscription } from './queries.ts';
import { raisePlanNotice } from './raise-plan-notice.ts';
import { buildSnapshot } from './read-snapshot.ts';
import { isEnded, isVisibleChange, type StoredSubscription } from './subscription.ts';

export interface StoreDeps {
  readonly pastDueGraceDays: number;
}

/** A new state of a subscription. */
export interface StateChange {
  /** Locked by the caller. */
  readonly customer: Customer;
  readonly stored: StoredSubscription | undefined;
  readonly next: Omit<StoredSubscription, 'revision'>;
}

/** A stored state. `unchanged`: receivers see no difference. */
export interface StoredState {
  readonly outcome: 'applied' | 'unchanged';
  readonly subscription: StoredSubscription;
}

/**
 * Stores a state of a subscription, and entitles its account if it is the current one. Publishes a fact only if receivers
 * can see a difference.
 */
export const storeState = async (
  deps: StoreDeps,
  trx: Knex.Transaction,
  { customer, stored, next }: StateChange,
): Promise<StoredState> => {
  const isCurrent = stored === undefined || !isEnded(next.status) || customer.currentSubscriptionId === stored.id;
  const isVisible = isCurrent && (stored === undefined || isVisibleChange(stored, next));
  const revision = isVisible ? nextRevision(customer) : (stored?.revision ?? customer.revision);
  const subscription = { ...next, revision };
  await upsertSubscription(trx, subscription);
  if (!isCurrent) return { outcome: 'unchanged', subscription };
  await updateCustomer(trx, {
    userId: subscription.userId,
    revision: Math.max(customer.revision, revision),
    currentSubscriptionId: subscription.id,
    isAnnounced: customer.isAnnounced || isVisible,
  });
  await entitle(trx, subscription);
  if (!isVisible) return { outcome: 'unchanged', subscription };
  await publishState(deps, trx, subscription);
  // A member is not mailed about a seat, which others pay.
  if (subscription.paidBy === null) await raisePlanNotice(deps, trx, { before: stored, after: subscription });
  return { outcome: 'applied', subscription };
};

const entitle = async (trx: Knex.Transaction, subscription: StoredSubscription): Promise<void> => {
  const plan = await findPlanById(trx, subscription.planId);
  if (plan === undefined) throw new Error(`the plan ${subscription.planId} of a subscription is missing`);
  await entitleAccount(trx, {
    userId: subscription.userId,
    status: subscription.status,
    planId: subscription.planId,
    paidBy: subscription.paidBy,
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
  deps: StoreDeps,
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
