import { internalRoutes, type SubscriptionSnapshot } from '@svc/contracts';
import type { InternalClient } from '@svc/service-kit';

export interface BillingClient {
  /**
   * Returns the users' present subscriptions in their order, null for users without one. Throws kind `unavailable` if billing is
   * away.
   */
  readonly readSnapshots: (userIds: readonly string[]) => Promise<readonly (SubscriptionSnapshot | null)[]>;
  /** Rejects with kind `unavailable` if billing cannot answer `readSnapshots` for any user. */
  readonly probe: () => Promise<void>;
}

export const createBillingClient = (client: InternalClient): BillingClient => {
  const readSnapshots = async (userIds: readonly string[]) => {
    const body = { svc_user_ids: [...userIds] };
    return (await client.call(internalRoutes.readSubscriptionSnapshots, { body })).body.snapshots;
  };
  return {
    readSnapshots,
    async probe() {
      await readSnapshots([]);
    },
  };
};
