import { hash } from 'node:crypto';
import { type ApiKeyCaller, AppError, type Authenticate, type RevocationQuery } from '@svc/service-kit';
import type { ApiKey } from './api-key.ts';
import { hashKey } from './hash-key.ts';
import { isKeyText } from './key-text.ts';

/** Lifetime of a cached key. Revocations announce changes and deletions sooner. */
const CACHE_MS = 60_000;
/** Limit of each cache. Unknown keys have a cache apart, so they cannot evict known ones. */
const CACHE_ENTRIES_MAX = 20_000;

export interface KeyAuthenticatorOptions {
  /** Finds a key by its hash. Rejects if the database does not respond. */
  readonly find: (keyHash: Buffer) => Promise<ApiKey | undefined>;
  readonly pepper: string;
  readonly revocations: {
    readonly isRevoked: (query: RevocationQuery) => boolean;
    readonly isSuperseded: (key: { readonly keyId: string; readonly version: number }) => boolean;
  };
  /** Called for each accepted use. */
  readonly onUse: (keyId: string) => void;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

interface Entry {
  readonly key: ApiKey | undefined;
  readonly expiresAtMs: number;
}

/**
 * Creates the authenticator of API keys. It throws `invalid_api_key` for a key that is unknown, paused, expired or
 * deleted, and `service_unavailable` if the database does not respond.
 */
export const createKeyAuthenticator = (options: KeyAuthenticatorOptions): Authenticate<ApiKeyCaller> => {
  const cache = { known: new Map<string, Entry>(), unknown: new Map<string, Entry>() };
  const find = async (text: string, name: string): Promise<ApiKey | undefined> => {
    if (!isKeyText(text)) return undefined;
    const expiresAtMs = options.clock() + CACHE_MS;
    const key = await options.find(hashKey(options.pepper, text)).catch((error: unknown) => {
      throw new AppError('service_unavailable', undefined, { cause: error });
    });
    cache.known.delete(name);
    cache.unknown.delete(name);
    const entries = key === undefined ? cache.unknown : cache.known;
    entries.set(name, { key, expiresAtMs });
    const [oldest] = entries.keys();
    if (entries.size > CACHE_ENTRIES_MAX && oldest !== undefined) entries.delete(oldest);
    return key;
  };
  const isSuperseded = (key: ApiKey | undefined): boolean =>
    key !== undefined && options.revocations.isSuperseded({ keyId: key.id, version: key.version });
  return async (text) => {
    // A plain digest costs a fifth of the keyed hash, and never leaves this process.
    const name = hash('sha256', text, 'base64');
    const entry = cache.known.get(name) ?? cache.unknown.get(name);
    const isFresh = entry !== undefined && options.clock() < entry.expiresAtMs && !isSuperseded(entry.key);
    const key = isFresh ? entry.key : await find(text, name);
    const isValid =
      key !== undefined &&
      (key.expiresAt === null || options.clock() < key.expiresAt.getTime()) &&
      !options.revocations.isRevoked({ keyId: key.id, userId: key.userId, keySessionId: key.sessionId });
    if (!isValid) throw new AppError('invalid_api_key');
    if (!key.active) throw new AppError('invalid_api_key', 'The API key is paused by its owner.');
    options.onUse(key.id);
    return {
      kind: 'api_key',
      keyId: key.id,
      userId: key.userId,
      requestsPerMinute: key.requestsPerMinute,
      tokensPerMinute: key.tokensPerMinute,
      monthlyLimitMicros: key.monthlyLimitMicros,
      models: key.models,
    };
  };
};
