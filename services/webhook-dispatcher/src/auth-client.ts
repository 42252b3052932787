import { internalRoutes } from '@svc/contracts';
import { AppError, type InternalClient } from '@svc/service-kit';

export interface AuthClient {
  /** Throws `not_found` unless the user owns the app, and kind `unavailable` if auth is away. */
  requireOwner(ownership: Ownership): Promise<void>;
}

export interface Ownership {
  readonly clientId: string;
  readonly userId: string;
  readonly requestId: string;
  readonly signal: AbortSignal;
}

/** Asks auth on each call, without a cache: new apps are known at once, and deleted ones no longer. */
export const createAuthClient = (client: InternalClient): AuthClient => ({
  async requireOwner({ clientId, userId, requestId, signal }) {
    const app = await client
      .call(internalRoutes.getAppOwnership, { params: { client_id: clientId }, requestId, signal })
      .catch((error: unknown) => {
        if (error instanceof AppError && error.code === 'not_found') return undefined;
        throw error;
      });
    // An app of another owner must look like no app.
    if (app?.body.owner_user_id !== userId) throw new AppError('not_found');
  },
});
