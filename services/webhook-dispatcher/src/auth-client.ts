import { internalRoutes, type WebhookNotice } from '@svc/contracts';
import { AppError, type CheckClientSecret, type InternalClient } from '@svc/service-kit';

export interface AuthClient {
  /** Throws `not_found` unless the user owns the app, and kind `unavailable` if auth is away. */
  readonly requireOwner: (ownership: Ownership) => Promise<void>;
  /** Says whether this is a live secret of the app. Throws kind `unavailable` if auth is away. */
  readonly checkSecret: CheckClientSecret;
  /** Mails the owner of an app, if it still exists. Throws kind `unavailable` if auth is away. */
  readonly mailOwner: (clientId: string, notice: WebhookNotice) => Promise<void>;
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
  async checkSecret(clientId, secret) {
    const params = { client_id: clientId };
    const answer = await client.call(internalRoutes.authenticateApp, { params, body: { client_secret: secret } });
    return answer.body.is_authentic;
  },
  async mailOwner(clientId, notice) {
    await client
      .call(internalRoutes.mailWebhookNotice, { params: { client_id: clientId }, body: notice })
      .catch((error: unknown) => {
        if (!(error instanceof AppError && error.code === 'not_found')) throw error;
      });
  },
});
