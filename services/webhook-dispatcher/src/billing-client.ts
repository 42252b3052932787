import { internalRoutes, type SubscriptionSnapshot } from '@svc/contracts';
import { AppError, type InternalClient } from '@svc/service-kit';

/** Questions to the billing service. */
export interface BillingClient {
  /**
   * The users' subscriptions as apps are told of them, in their order, null where there is none; throws kind `unavailable`
   * when billing cannot be asked.
   */
  readSnapshots(userIds: readonly string[]): Promise<readonly (SubscriptionSnapshot | null)[]>;
}

/** Asks billing for the state of now, which no older fact can show. */
export const createBillingClient = (client: InternalClient): BillingClient => {
  return {
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
  };
};

/** Asks a billing of the release before, which knows no other way. */
const readOneByOne = async (client: InternalClient, userIds: readonly string[]) => {
  const snapshots: (SubscriptionSnapshot | null)[] = [];
  for (const svc_user_id of userIds) {
    const { body } = await client.call(internalRoutes.getSubscriptionSnapshot, { params: { svc_user_id } });
    snapshots.push(body.snapshot);
  }
  return snapshots;
};
