import { internalRoutes, type SubscriptionSnapshot } from '@svc/contracts';
import type { InternalClient } from '@svc/service-kit';

/** Questions to the billing service. */
export interface BillingClient {
  /**
   * The users' subscriptions as apps are told of them, in their order, null where there is none; throws kind `unavailable`
   * when billing cannot be asked.
   */
  readSnapshots(userIds: readonly string[]): Promise<readonly (SubscriptionSnapshot | null)[]>;
}

/** Asks billing for the state of now, which no older fact can show. */
export function createBillingClient(client: InternalClient): BillingClient {
  return {
    async readSnapshots(userIds) {
      const { body } = await client.call(internalRoutes.readSubscriptionSnapshots, {
        body: { svc_user_ids: [...userIds] },
      });
      return body.snapshots;
    },
  };
}
