import { internalRoutes, routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import { readSnapshots, type SnapshotDeps } from './read-snapshot.ts';
import { readCurrentSubscription, type SubscriptionDeps } from './read-subscription.ts';

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
