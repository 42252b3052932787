import { internalRoutes } from '@svc/contracts';
import { AppError, type InternalClient } from '@svc/service-kit';

/** Questions to the auth service. */
export interface AuthClient {
  /** Resolves when the user owns the app; throws `not_found` otherwise, kind `unavailable` when auth cannot be asked. */
  requireOwner(question: OwnershipQuestion): Promise<void>;
}

/** Whether this user owns that app. */
export interface OwnershipQuestion {
  readonly clientId: string;
  readonly userId: string;
  readonly requestId: string;
  readonly signal: AbortSignal;
}

/** Asks the owner of the apps each time: an app that was registered a moment ago is known, one that was deleted is not. */
export const createAuthClient = (client: InternalClient): AuthClient => {
  return {
    async requireOwner({ clientId, userId, requestId, signal }) {
      const app = await client
        .call(internalRoutes.getAppOwnership, { params: { client_id: clientId }, requestId, signal })
        .catch((error: unknown) => {
          if (error instanceof AppError && error.code === 'not_found') return undefined;
          throw error;
        });
      // Somebody else's app and no app look the same.
      if (app?.body.owner_user_id !== userId) throw new AppError('not_found');
    },
  };
};
