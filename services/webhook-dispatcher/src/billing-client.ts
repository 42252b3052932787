import { internalRoutes, type SubscriptionSnapshot } from '@svc/contracts';
import { AppError, type InternalClient } from '@svc/service-kit';

export interface BillingClient {
  /**
   * Returns the users' present subscriptions in their order, null for users without one. Throws kind `unavailable` if billing is
   * away.
   */
  readonly readSnapshots: (userIds: readonly string[]) => Promise<readonly (SubscriptionSnapshot | null)[]>;
}

export const createBillingClient = (client: InternalClient): BillingClient => ({
  async readSnapshots(userIds) {
    try {
      const { body } = await client.call(internalRoutes.readSubscriptionSnapshots, {
        body: { svc_user_ids: [...userIds] },
      });
      return body.snapshots;
    } catch (error) {
      if (error instanceof AppError && error.code === 'not_found') return await readOneByOne(client, userIds);
      throw error;
    }
  },
});

/** Falls back to the route of the previous release. */
const readOneByOne = async (client: InternalClient, userIds: readonly string[]) => {
  const snapshots: (SubscriptionSnapshot | null)[] = [];
  for (const svc_user_id of userIds) {
    const { body } = await client.call(internalRoutes.getSubscriptionSnapshot, { params: { svc_user_id } });
    snapshots.push(body.snapshot);
  }
  return snapshots;
};
