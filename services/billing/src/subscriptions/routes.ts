import { internalRoutes, routes, type Subscription } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { AuthClient } from '../auth-client.ts';
import { findPlanById } from '../plans.ts';
import { findCurrentSubscription, findSubscriptionById } from './queries.ts';
import { readSnapshots, type SnapshotDeps } from './read-snapshot.ts';
import type { StoredSubscription } from './subscription.ts';

export interface SubscriptionDeps {
  readonly database: Knex;
  readonly auth: Pick<AuthClient, 'nameSoon'>;
}

/** Reads the account's current subscription for its owner; null if it never had one. */
const readCurrentSubscription = async (deps: SubscriptionDeps, userId: string): Promise<Subscription | null> => {
  const subscription = await findCurrentSubscription(deps.database, userId);
  return subscription === undefined ? null : describeSubscription(deps, subscription);
};

/** Reads a subscription for its owner. The caller checks the ownership. */
export const readSubscription = async (deps: SubscriptionDeps, id: string): Promise<Subscription> => {
  const subscription = await findSubscriptionById(deps.database, id);
  if (subscription === undefined) throw new Error(`the subscription ${id} is missing`);
  return describeSubscription(deps, subscription);
};

const describeSubscription = async (
  { database, auth }: SubscriptionDeps,
  subscription: StoredSubscription,
): Promise<Subscription> => {
  const { paidBy } = subscription;
  const plan = await findPlanById(database, subscription.planId);
  return {
    id: subscription.id,
    status: subscription.status,
    plan: { id: subscription.planId, name: plan?.name ?? subscription.planId },
    current_period_start: subscription.periodStart.toISOString(),
    current_period_end: subscription.periodEnd.toISOString(),
    cancel_at_period_end: subscription.cancelAtPeriodEnd,
    revision: subscription.revision,
    paid_by: paidBy === null ? null : { organization_id: paidBy, name: await auth.nameSoon(paidBy) },
  };
};

/** Binds the public routes of subscriptions. Purchases go through the routes of payments. */
export const subscriptionRoutes = (deps: SubscriptionDeps): Binding[] => [
  bind(routes.getSubscription, async ({ caller }) => ({
    status: 200,
    body: { subscription: await readCurrentSubscription(deps, caller.userId) },
  })),
];

/** Binds the internal routes of subscriptions. */
export const subscriptionInternalRoutes = (deps: SnapshotDeps): Binding[] => [
  bind(internalRoutes.readSubscriptionSnapshots, async ({ body }) => ({
    status: 200,
    body: { snapshots: await readSnapshots(deps, body.svc_user_ids) },
  })),
];
