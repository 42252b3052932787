import type { SubscriptionSnapshot } from '@svc/contracts';
import type { Knex } from 'knex';
import { readStanding } from '../reservations/index.ts';
import { listCurrentSubscriptions } from './queries.ts';
import type { StoredSubscription } from './subscription.ts';

export interface SnapshotDeps {
  readonly database: Knex;
  readonly pastDueGraceDays: number;
}

/** Reads the subscription snapshots of accounts, in the given order; null for accounts that never had one. */
export const readSnapshots = async (
  deps: SnapshotDeps,
  userIds: readonly string[],
): Promise<(SubscriptionSnapshot | null)[]> => {
  const subscriptions = await listCurrentSubscriptions(deps.database, userIds);
  const byUser = new Map(subscriptions.map((subscription) => [subscription.userId, subscription]));
  return await Promise.all(
    userIds.map((userId) => {
      const subscription = byUser.get(userId);
      return subscription === undefined ? null : buildSnapshot(deps.database, subscription, deps.pastDueGraceDays);
    }),
  );
};

/** Builds the snapshot of a subscription, with percentages and services but without amounts. */
export const buildSnapshot = async (
  database: Knex,
  subscription: StoredSubscription,
  pastDueGraceDays: number,
): Promise<SubscriptionSnapshot> => {
  const standing = await readStanding(database, subscription.userId, pastDueGraceDays);
  if (standing === undefined) throw new Error('a subscription has no account');
  const { plan, services, weekly, monthly } = standing;
  return {
    status: subscription.status,
    plan: { id: plan.id, name: plan.name },
    period: { start: subscription.periodStart.toISOString(), end: subscription.periodEnd.toISOString() },
    cancel_at_period_end: subscription.cancelAtPeriodEnd,
    budget: {
      weekly_used_percent: weekly.usedPercent,
      monthly_used_percent: monthly.usedPercent,
      services,
    },
    revision: subscription.revision,
  };
};
