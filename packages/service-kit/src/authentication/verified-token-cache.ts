import { hash } from 'node:crypto';

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
  clock: () => Date;
  /** A token is only good while the key that signed it is published. */
  isKeyCurrent: (keyId: string) => boolean;
}

/** Creates a cache that drops what was used least recently. */
export const createVerifiedTokenCache = <T>(options: VerifiedTokenCacheOptions): VerifiedTokenCache<T> => {
  const entries = new Map<string, Entry<T>>();
  return {
    get: (token) => {
      const key = hash('sha256', token, 'base64');
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entries.delete(key);
      if (entry.expiresAtMs <= options.clock().getTime() || !options.isKeyCurrent(entry.keyId)) return undefined;
      // A Map keeps the order of insertion, so what is put back last is used most recently.
      entries.set(key, entry);
      return entry.value;
    },
    set: (token, entry) => {
      entries.set(hash('sha256', token, 'base64'), entry);
      if (entries.size <= options.entriesMax) return;
      const [oldest] = entries.keys();
      if (oldest !== undefined) entries.delete(oldest);
    },
  };
};
