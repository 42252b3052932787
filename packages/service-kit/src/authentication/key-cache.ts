import { hash } from 'node:crypto';
import { AppError } from '../app-error.ts';

/** Lifetime of a cached key. Revocations announce changes and deletions sooner. */
const CACHE_MS = 60_000;
/** Limit of each cache. Unknown keys have a cache apart, so they cannot evict known ones. */
const CACHE_ENTRIES_MAX = 20_000;

export interface KeyCacheOptions<K> {
  /** Finds a key by its text, or undefined. Rejects if its owner does not respond. */
  readonly find: (text: string) => Promise<K | undefined>;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

interface Entry<K> {
  readonly key: K | undefined;
  readonly expiresAtMs: number;
}

/**
 * Creates a look-up of keys by their text. Returns a cached key unless it is out of date. Throws `service_unavailable` if
 * the key cannot be looked up.
 */
export const createKeyCache = <K>(
  options: KeyCacheOptions<K>,
): ((text: string, isCurrent?: (key: K) => boolean) => Promise<K | undefined>) => {
  const known = new Map<string, Entry<K>>();
  const unknown = new Map<string, Entry<K>>();
  const load = async (text: string, name: string): Promise<K | undefined> => {
    const expiresAtMs = options.clock() + CACHE_MS;
    const key = await options.find(text).catch((error: unknown) => {
      throw new AppError('service_unavailable', undefined, { cause: error });
    });
    known.delete(name);
    unknown.delete(name);
    const entries = key === undefined ? unknown : known;
    entries.set(name, { key, expiresAtMs });
    const [oldest] = entries.keys();
    if (entries.size > CACHE_ENTRIES_MAX && oldest !== undefined) entries.delete(oldest);
    return key;
  };
  return async (text, isCurrent = () => true) => {
    // A plain digest costs a fifth of a keyed hash, and never leaves this process.
    const name = hash('sha256', text, 'base64');
    const entry = known.get(name) ?? unknown.get(name);
    const isFresh = entry !== undefined && options.clock() < entry.expiresAtMs;
    if (isFresh && (entry.key === undefined || isCurrent(entry.key))) return entry.key;
    return await load(text, name);
  };
};
