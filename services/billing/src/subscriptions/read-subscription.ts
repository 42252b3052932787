import type { Subscription } from '@svc/contracts';
import type { Knex } from 'knex';
import { findPlanById } from '../plans/index.ts';
import { findCurrentSubscription, findSubscriptionById } from './queries.ts';
import type { StoredSubscription } from './subscription.ts';

/** Reads the account's current subscription for its owner; null if it never had one. */
export const readCurrentSubscription = async (database: Knex, userId: string): Promise<Subscription | null> => {
  const subscription = await findCurrentSubscription(database, userId);
  return subscription === undefined ? null : describeSubscription(database, subscription);
};

/** Reads a subscription for its owner. The caller checks the ownership. */
export const readSubscription = async (database: Knex, id: string): Promise<Subscription> => {
  const subscription = await findSubscriptionById(database, id);
  if (subscription === undefined) throw new Error(`the subscription ${id} is missing`);
  return describeSubscription(database, subscription);
};

const describeSubscription = async (database: Knex, subscription: StoredSubscription): Promise<Subscription> => {
  const plan = await findPlanById(database, subscription.planId);
  return {
    id: subscription.id,
    status: subscription.status,
    plan: { id: subscription.planId, name: plan?.name ?? subscription.planId },
    current_period_start: subscription.periodStart.toISOString(),
    current_period_end: subscription.periodEnd.toISOString(),
    cancel_at_period_end: subscription.cancelAtPeriodEnd,
    revision: subscription.revision,
  };
};
