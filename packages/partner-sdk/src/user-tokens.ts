import { ConnectError } from './connect/connect-error.ts';
import { ConnectionEndedError, type Connector } from './connect/connector.ts';
import type { TokenSet } from './connect/token-request.ts';

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

/** Access tokens are refreshed this long before they expire, so that none expires in transit. */
const REFRESH_AHEAD_SECONDS = 60;
/**
 * A refresh whose answer is lost is repeated with the same refresh token. The service accepts it for the app's grace,
 * 30 s by default.
 */
const REFRESH_ATTEMPTS_MAX = 3;
const RETRY_DELAYS_MS = [200, 1_000];

export interface AccessTokenRequest {
  /** A token that the service has just rejected although it has not expired. */
  readonly rejected?: string | undefined;
}

/** Returns an access token for the next call. Throws `ConnectionEndedError` if the user has to connect again. */
export type AccessTokenSource = (request?: AccessTokenRequest) => Promise<string>;

/** Tokens of all connected users. */
export interface UserTokens {
  /** Stores the tokens of a user who has just connected. */
  save(tokens: TokenSet): Promise<void>;
  /** Returns a valid access token, refreshed if necessary. Throws `ConnectionEndedError` or `ConnectError`. */
  accessToken(svcUserId: string, request?: AccessTokenRequest): Promise<string>;
  /** Returns the token source for a client of this user. */
  of(svcUserId: string): AccessTokenSource;
  /** Deletes the tokens of a user, for example on `integration.revoked`. */
  forget(svcUserId: string): Promise<void>;
}

export interface UserTokensOptions {
  readonly connector: Pick<Connector, 'refresh'>;
  readonly store: TokenStore;
  readonly refreshAheadSeconds?: number | undefined;
  readonly clock?: (() => Date) | undefined;
}

/**
 * Returns access tokens and refreshes them. Concurrent calls in one process share a refresh. If several processes
 * refresh at once, the first to store its tokens wins and the others use them.
 */
export const createUserTokens = (options: UserTokensOptions): UserTokens => {
  const { connector, store } = options;
  const clock = options.clock ?? (() => new Date());
  const aheadMs = (options.refreshAheadSeconds ?? REFRESH_AHEAD_SECONDS) * 1000;
  const flights = new Map<string, Promise<string>>();

  const usable = (stored: StoredTokens | undefined, rejected: string | undefined): string | undefined => {
    if (stored === undefined || stored.tokens.accessToken === rejected) return undefined;
    return stored.tokens.expiresAtMs - aheadMs > clock().getTime() ? stored.tokens.accessToken : undefined;
  };

  /** Returns the token that another process has stored since `stale` was read; throws `failure` if there is none. */
  const readNewer = async (svcUserId: string, stale: StoredTokens, failure: unknown): Promise<string> => {
    const newer = await store.load(svcUserId);
    if (newer === undefined || newer.version === stale.version) throw failure;
    return newer.tokens.accessToken;
  };

  const recover = async (svcUserId: string, stored: StoredTokens, failure: unknown, rejected: string | undefined) => {
    if (failure instanceof ConnectionEndedError) await store.compareAndSet(svcUserId, stored.version, undefined);
    const { accessToken: current, expiresAtMs } = stored.tokens;
    const isStillGood = isUnavailable(failure) && current !== rejected && expiresAtMs > clock().getTime();
    return isStillGood ? current : await readNewer(svcUserId, stored, failure);
  };

  const renew = async (svcUserId: string, rejected: string | undefined): Promise<string> => {
    const stored = await store.load(svcUserId);
    if (stored === undefined) throw new ConnectionEndedError(svcUserId);
    const found = usable(stored, rejected);
    if (found !== undefined) return found;
    let next: TokenSet;
    try {
      next = await refreshWithRetries(connector, stored.tokens);
    } catch (failure) {
      return await recover(svcUserId, stored, failure, rejected);
    }
    if (await store.compareAndSet(svcUserId, stored.version, next)) return next.accessToken;
    return await readNewer(svcUserId, stored, new ConnectionEndedError(svcUserId));
  };

  const renewOnce = (svcUserId: string, rejected: string | undefined): Promise<string> => {
    const flight = flights.get(svcUserId);
    if (flight !== undefined) return flight;
    const started = renew(svcUserId, rejected).finally(() => flights.delete(svcUserId));
    flights.set(svcUserId, started);
    return started;
  };

  const accessToken: UserTokens['accessToken'] = async (svcUserId, { rejected } = {}) => {
    const found = usable(await store.load(svcUserId), rejected);
    if (found !== undefined) return found;
    const token = await renewOnce(svcUserId, rejected);
    // The shared refresh may have started before the rejection was known.
    return token === rejected ? await renewOnce(svcUserId, rejected) : token;
  };

  return {
    save: (tokens) => store.save(tokens),
    accessToken,
    of: (svcUserId) => (request) => accessToken(svcUserId, request),
    forget: (svcUserId) => store.remove(svcUserId),
  };
};

const refreshWithRetries = async (connector: Pick<Connector, 'refresh'>, tokens: TokenSet): Promise<TokenSet> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await connector.refresh(tokens);
    } catch (error) {
      if (!isUnavailable(error) || attempt >= REFRESH_ATTEMPTS_MAX) throw error;
      const delayMs = RETRY_DELAYS_MS[attempt - 1];
      await new Promise((resolve) => setTimeout(resolve, delayMs));
    }
  }
};

const isUnavailable = (error: unknown): boolean => error instanceof ConnectError && error.reason === 'unavailable';
