import type { StoredTokens, TokenStore } from './token-store.ts';

/** Stores tokens in memory, for tests and first steps. */
export const createMemoryTokenStore = (): TokenStore => {
  const stored = new Map<string, StoredTokens>();
  let writes = 0;
  const nextVersion = (): string => {
    writes += 1;
    return String(writes);
  };
  return {
    load: async (svcUserId) => stored.get(svcUserId),
    save: async (tokens) => {
      stored.set(tokens.svcUserId, { tokens, version: nextVersion() });
    },
    compareAndSet: async (svcUserId, version, next) => {
      if (stored.get(svcUserId)?.version !== version) return false;
      if (next === undefined) stored.delete(svcUserId);
      else stored.set(svcUserId, { tokens: next, version: nextVersion() });
      return true;
    },
    remove: async (svcUserId) => {
      stored.delete(svcUserId);
    },
  };
};
