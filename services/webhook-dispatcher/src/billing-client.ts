import { internalRoutes, type SubscriptionSnapshot } from '@svc/contracts';
import type { InternalClient } from '@svc/service-kit';

/** Questions to the billing service. */
export interface BillingClient {
  /** The user's subscription as apps are told of it, or null; throws kind `unavailable` when billing cannot be asked. */
  getSnapshot(userId: string): Promise<SubscriptionSnapshot | null>;
}

/** Asks billing for the state of now, which no older fact can show. */
export function createBillingClient(client: InternalClient): BillingClient {
  return {
    async getSnapshot(userId) {
      const { body } = await client.call(internalRoutes.getSubscriptionSnapshot, { params: { svc_user_id: userId } });
      return body.snapshot;
    },
  };
}
