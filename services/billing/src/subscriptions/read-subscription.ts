import type { Subscription } from '@svc/contracts';
import type { Knex } from 'knex';
import { findPlanById } from '../plans/index.ts';
import { findCurrentSubscription, findSubscriptionById } from './queries.ts';
import type { StoredSubscription } from './subscription.ts';

/** The account's subscription as its owner sees it; null where there never was one. */
export const readCurrentSubscription = async (database: Knex, userId: string): Promise<Subscription | null> => {
  const subscription = await findCurrentSubscription(database, userId);
  return subscription === undefined ? null : describeSubscription(database, subscription);
};

/** A subscription by its id as its owner sees it; the caller knows whose it is. */
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
