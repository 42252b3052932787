import { hash } from 'node:crypto';
import type { Clock } from '../clock.ts';

interface Entry<T> {
  readonly value: T;
  readonly expiresAtMs: number;
  readonly keyId: string;
}

/** Caches the claims of verified tokens by digest, so that no token is stored and no signature is checked twice. */
export interface VerifiedTokenCache<T> {
  readonly get: (token: string) => T | undefined;
  readonly set: (token: string, entry: Entry<T>) => void;
}

export interface VerifiedTokenCacheOptions {
  readonly entriesMax: number;
  readonly clock: Clock;
  /** Returns true while the signing key is published. */
  readonly isKeyCurrent: (keyId: string) => boolean;
}

/**
 * Creates a cache that evicts the least recently used entries. It keeps two generations, each of half the capacity, and
 * drops the older one as a whole. Entries are never deleted from a Map one by one: that would cost more per use than
 * the lookup (see `UnorderedSet`).
 */
export const createVerifiedTokenCache = <T>(options: VerifiedTokenCacheOptions): VerifiedTokenCache<T> => {
  let recent = new Map<string, Entry<T>>();
  let earlier = recent;
  const put = (key: string, entry: Entry<T>): void => {
    if (recent.size >= options.entriesMax / 2 && !recent.has(key)) {
      earlier = recent;
      recent = new Map();
    }
    recent.set(key, entry);
  };
  return {
    get: (token) => {
      const key = hash('sha256', token, 'base64');
      const latest = recent.get(key);
      const entry = latest ?? earlier.get(key);
      if (entry === undefined) return undefined;
      if (entry.expiresAtMs <= options.clock().getTime() || !options.isKeyCurrent(entry.keyId)) return undefined;
      if (latest === undefined) put(key, entry);
      return entry.value;
    },
    set: (token, entry) => put(hash('sha256', token, 'base64'), entry),
  };
};
