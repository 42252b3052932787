import { internalRoutes, type WebhookNotice } from '@svc/contracts';
import { AppError, type CheckClientSecret, type InternalClient } from '@svc/service-kit';

export interface AuthClient {
  /**
   * Returns the app of a request as the owner of a webhook. Throws `not_found` unless the caller owns it, and kind `unavailable`
   * if auth is away.
   */
  readonly ownerOf: (request: AppRequest) => Promise<{ readonly ownerId: string; readonly accountId: string }>;
  /** Says whether this is a live secret of the app. Throws kind `unavailable` if auth is away. */
  readonly checkSecret: CheckClientSecret;
  /** Mails the owner of a webhook, if the app or account still exists. Throws kind `unavailable` if auth is away. */
  readonly mailOwner: (ownerId: string, notice: WebhookNotice) => Promise<void>;
}

/** A request about an app. */
export interface AppRequest {
  readonly params: { readonly client_id: string };
  readonly caller: { readonly userId: string };
  readonly requestId: string;
  readonly signal: AbortSignal;
}

/** Asks auth on each call, without a cache: new apps are known at once, and deleted ones no longer. */
export const createAuthClient = (client: InternalClient): AuthClient => ({
  async ownerOf({ params: { client_id: ownerId }, caller: { userId: accountId }, requestId, signal }) {
    const app = await client
      .call(internalRoutes.getAppOwnership, { params: { client_id: ownerId }, requestId, signal })
      .catch((error: unknown) => {
        if (error instanceof AppError && error.code === 'not_found') return undefined;
        throw error;
      });
    // An app of another owner must look like no app.
    if (app?.body.owner_user_id !== accountId) throw new AppError('not_found');
    return { ownerId, accountId };
  },
  async checkSecret(clientId, secret) {
    const params = { client_id: clientId };
    const answer = await client.call(internalRoutes.authenticateApp, { params, body: { client_secret: secret } });
    return answer.body.is_authentic;
  },
  async mailOwner(ownerId, notice) {
    await client
      .call(internalRoutes.mailWebhookNotice, { params: { owner_id: ownerId }, body: notice })
      .catch((error: unknown) => {
        if (!(error instanceof AppError && error.code === 'not_found')) throw error;
      });
  },
});
