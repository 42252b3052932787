import { events, type PlanNotice, subscriptionAggregate } from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import type { Knex } from 'knex';
import { findPlanById } from '../plans.ts';
import { entitleAccount } from '../reservations/index.ts';
import { type Customer, nextRevision, updateCustomer, upsertSubscription } from './queries.ts';
import { buildSnapshot } from './read-snapshot.ts';
import { isEnded, isVisibleChange, PAID, type StoredSubscription } from './subscription.ts';

const DAY_MS = 86_400_000;

/** A plan, or the seats of a plan, as a mail names it. */
type Noticed = Pick<
  StoredSubscription,
  'id' | 'userId' | 'status' | 'planId' | 'periodEnd' | 'cancelAtPeriodEnd' | 'pastDueSince' | 'endedAt' | 'revision'
>;

/**
 * Publishes what the owner of a plan, or of seats, is mailed about its change, in the transaction of the change. The purchase of
 * seats is no plan of the organization itself, so no mail says so.
 */
export const raisePlanNotice = async (
  { pastDueGraceDays }: { readonly pastDueGraceDays: number },
  trx: Knex.Transaction,
  { before, after, seats }: { readonly before: Noticed | undefined; readonly after: Noticed; readonly seats?: number },
): Promise<void> => {
  const notice = noticeOf(before, after, pastDueGraceDays);
  if (notice === undefined || (seats !== undefined && notice.kind === 'purchased')) return;
  const name = (await findPlanById(trx, after.planId))?.name ?? after.planId;
  await appendToOutbox(trx, {
    subject: events.planNoticeRaised.subject,
    aggregate: `plan_notice:${after.id}:${after.revision}`,
    version: 1,
    data: {
      svc_user_id: after.userId,
      kind: notice.kind,
      plan: { id: after.planId, name: seats === undefined ? name : `${seats} × ${name}` },
      at: notice.at.toISOString(),
      is_unpaid: after.status === 'unpaid',
    },
  });
};

const noticeOf = (
  before: Noticed | undefined,
  after: Noticed,
  graceDays: number,
): { readonly kind: PlanNotice['kind']; readonly at: Date } | undefined => {
  const wasNeverPaid = before === undefined || before.status === 'incomplete';
  if (isEnded(after.status)) {
    if (wasNeverPaid || isEnded(before.status)) return undefined;
    return { kind: 'ended', at: after.endedAt ?? after.periodEnd };
  }
  if (after.status === 'past_due' && before?.status !== 'past_due' && after.pastDueSince !== null) {
    return { kind: 'payment_failed', at: new Date(after.pastDueSince.getTime() + graceDays * DAY_MS) };
  }
  if (!PAID.has(after.status)) return undefined;
  if (wasNeverPaid) return { kind: 'purchased', at: after.periodEnd };
  return after.cancelAtPeriodEnd && !before.cancelAtPeriodEnd ? { kind: 'cancelled', at: after.periodEnd } : undefined;
};

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
