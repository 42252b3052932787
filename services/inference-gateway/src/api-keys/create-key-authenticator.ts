import type { Digests } from '@svc/secrets';
import { type ApiKeyCaller, AppError, type Authenticate, createKeyCache, type RevocationQuery } from '@svc/service-kit';
import { type ApiKey, apiKeyText } from './api-key.ts';

export interface KeyAuthenticatorOptions {
  /** Finds a key by its digests, one for each pepper. Rejects if the database does not respond. */
  readonly find: (digests: readonly Buffer[]) => Promise<ApiKey | undefined>;
  readonly digests: Pick<Digests, 'candidates'>;
  readonly revocations: {
    readonly refreshIfStale: (query: RevocationQuery) => Promise<void> | undefined;
    readonly isRevoked: (query: RevocationQuery) => boolean;
    readonly isSuperseded: (key: { readonly keyId: string; readonly version: number }) => boolean;
  };
  /** Called for each accepted use. */
  readonly onUse: (keyId: string) => void;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/**
 * Creates the authenticator of API keys. It throws `invalid_api_key` for a key that is unknown, paused, expired or
 * deleted, and `service_unavailable` if the database does not respond. The log line of a request with a known key carries
 * the ids of the key and of its account.
 */
export const createKeyAuthenticator = (options: KeyAuthenticatorOptions): Authenticate<ApiKeyCaller> => {
  const find = createKeyCache<ApiKey>({
    find: (text) => options.find(options.digests.candidates(text)),
    clock: options.clock,
  });
  const isCurrent = (key: ApiKey): boolean =>
    !options.revocations.isSuperseded({ keyId: key.id, version: key.version });
  return async (text) => {
    const found = apiKeyText.isWellFormed(text) ? await find(text, isCurrent) : undefined;
    const refreshing = found && options.revocations.refreshIfStale(credentialOf(found));
    if (refreshing !== undefined) await refreshing;
    const key = refreshing === undefined ? found : await find(text, isCurrent);
    if (key === undefined) throw new AppError('invalid_api_key');
    // Without them the owner of a refused key could not be found.
    const logged = { key_id: key.id, user_id: key.userId };
    const isValid =
      (key.expiresAt === null || options.clock() < key.expiresAt.getTime()) &&
      !options.revocations.isRevoked(credentialOf(key));
    if (!isValid) throw new AppError('invalid_api_key', undefined, { logged });
    if (!key.active) throw new AppError('invalid_api_key', 'The API key is paused by its owner.', { logged });
    options.onUse(key.id);
    return {
      kind: 'api_key',
      keyId: key.id,
      userId: key.userId,
      creatorId: key.createdBy,
      requestsPerMinute: key.requestsPerMinute,
      tokensPerMinute: key.tokensPerMinute,
      monthlyLimitMicros: key.monthlyLimitMicros,
      models: key.models,
    };
  };
};

const credentialOf = ({ id, userId, sessionId }: ApiKey): RevocationQuery => ({
  keyId: id,
  userId,
  keySessionId: sessionId,
});
