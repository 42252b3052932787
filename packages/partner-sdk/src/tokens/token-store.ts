import type { TokenSet } from '../connect/index.ts';

/** Tokens as they are stored. */
export interface StoredTokens {
  readonly tokens: TokenSet;
  /** Changes with every write and never comes back for this user, also not after a removal. */
  readonly version: string;
}

/**
 * Where tokens are kept, by `svcUserId`. One row per user in a database serves any number of processes: the compare-and-set
 * is an update that names the version it has read. Encrypt the tokens at rest.
 */
export interface TokenStore {
  load(svcUserId: string): Promise<StoredTokens | undefined>;
  /** Writes whatever is stored: after a user has connected. */
  save(tokens: TokenSet): Promise<void>;
  /**
   * Writes `next`, or removes the tokens where it is undefined, only if what is stored has this version still. Answers
   * whether it did.
   */
  compareAndSet(svcUserId: string, version: string, next: TokenSet | undefined): Promise<boolean>;
  /** Removes whatever is stored. */
  remove(svcUserId: string): Promise<void>;
}
