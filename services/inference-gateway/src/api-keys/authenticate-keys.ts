import { createDigests, type Digests, type KeyedColumn, type SecretKeys, type SecretUse } from '@svc/secrets';
import {
  type ApiKeyCaller,
  AppError,
  type Authenticate,
  batchCalls,
  createKeyCache,
  type Logger,
  type RevocationQuery,
  runPeriodically,
} from '@svc/service-kit';
import type { Knex } from 'knex';
import { type ApiKey, apiKeyText } from './api-key.ts';
import { findApiKeysByHash, updateApiKeysLastUsedAt } from './queries.ts';

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

const KEYS_MAX = 500;
/** A single query at a time finds this many keys within a second. */
const WAITING_MAX = 10_000;

/**
 * Creates a batched lookup of keys by their digests, one for each pepper. A flood of unknown keys costs a few queries, and valid keys do not queue
 * behind it one by one. The lookup throws `service_unavailable` if its queue is full.
 */
export const batchKeyFinds = (database: Knex): ((digests: readonly Buffer[]) => Promise<ApiKey | undefined>) =>
  batchCalls({
    run: async (keys: readonly (readonly Buffer[])[]) => {
      const found = await findApiKeysByHash(database, keys.flat());
      let start = 0;
      return keys.map(({ length }) => {
        const candidates = found.slice(start, start + length);
        start += length;
        return candidates.find((key) => key !== undefined);
      });
    },
    callsMax: KEYS_MAX,
    waitingMax: WAITING_MAX,
  });

/** Keyed digests of API keys. Without the pepper, a leaked table does not allow guesses to be checked. */
export const createKeyDigests = (pepper: SecretKeys): Digests => createDigests(pepper, 'api-keys');

/** The stored digests of API keys, which can move to another pepper. */
export const keyDigestUse = (pepper: SecretKeys): SecretUse => {
  const { renew } = createKeyDigests(pepper);
  const columnOf = (column: string): KeyedColumn => ({
    table: 'api_keys',
    column,
    id: 'id',
    idType: 'text',
    renew: (value) => renew(value),
  });
  return { keys: pepper, columns: [columnOf('hash'), columnOf('previous_hash')] };
};

/** `last_used_at` is only displayed, so a short delay is fine. A write per request would be expensive. */
const FLUSH_INTERVAL_MS = 1_000;

/** Collects the last use of each key and writes them in batches. */
export interface LastUseTracker {
  readonly note: (keyId: string) => void;
  readonly stop: () => Promise<void>;
}

export const createLastUseTracker = (options: {
  readonly database: Knex;
  readonly clock: () => number;
  readonly logger: Logger;
}): LastUseTracker => {
  let uses = new Map<string, number>();
  const flush = async (): Promise<void> => {
    if (uses.size === 0) return;
    const taken = uses;
    uses = new Map();
    await updateApiKeysLastUsedAt(options.database, taken);
  };
  const flushing = runPeriodically({
    name: 'last uses of keys',
    intervalMs: FLUSH_INTERVAL_MS,
    run: flush,
    logger: options.logger,
  });
  return {
    note: (keyId) => uses.set(keyId, options.clock()),
    stop: async () => {
      await flushing.stop();
      await flush();
    },
  };
};
