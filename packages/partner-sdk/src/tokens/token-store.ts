import type { TokenSet } from '../connect/index.ts';

export interface StoredTokens {
  readonly tokens: TokenSet;
  /** Changes with every write and is never reused for this user, even after a removal. */
  readonly version: string;
}

/**
 * Storage of tokens by `svcUserId`. One database row per user serves any number of processes if the compare-and-set is
 * an update conditional on the version. Encrypt the tokens at rest.
 */
export interface TokenStore {
  load(svcUserId: string): Promise<StoredTokens | undefined>;
  /** Stores the tokens unconditionally, after a user has connected. */
  save(tokens: TokenSet): Promise<void>;
  /**
   * Writes `next`, or removes the tokens if it is undefined, only if the stored version is still `version`. Returns
   * true if it did.
   */
  compareAndSet(svcUserId: string, version: string, next: TokenSet | undefined): Promise<boolean>;
  /** Removes the tokens unconditionally. */
  remove(svcUserId: string): Promise<void>;
}
