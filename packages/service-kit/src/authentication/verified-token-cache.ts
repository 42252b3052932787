import { hash } from 'node:crypto';
import type { Clock } from '../clock.ts';

interface Entry<T> {
  value: T;
  expiresAtMs: number;
  keyId: string;
}

/** Remembers tokens whose signature was verified, by digest, so that no token is kept and no signature checked twice. */
export interface VerifiedTokenCache<T> {
  get: (token: string) => T | undefined;
  set: (token: string, entry: Entry<T>) => void;
}

/** How the cache is bounded and when an entry is no longer good. */
export interface VerifiedTokenCacheOptions {
  entriesMax: number;
  clock: Clock;
  /** A token is only good while the key that signed it is published. */
  isKeyCurrent: (keyId: string) => boolean;
}

/**
 * Creates a cache that drops what has not been used for longest: what was used since half of the entries came, and what was used
 * in the half before that. Nothing is ever taken out of a Map, which at each use would cost more than the look itself (see `UnorderedSet`).
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
