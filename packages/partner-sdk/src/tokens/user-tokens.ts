import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectError, ConnectionEndedError, type Connector, type TokenSet } from '../connect/index.ts';
import type { StoredTokens, TokenStore } from './token-store.ts';

/** Access tokens are renewed this long before they expire, so that none expires on its way. */
const REFRESH_AHEAD_SECONDS = 60;
/**
 * A refresh whose answer is lost is repeated with the same refresh token: for a grace of 30 s, unless the app was registered
 * with another, the service answers it again.
 */
const REFRESH_ATTEMPTS_MAX = 3;
const RETRY_DELAYS_MS = [200, 1_000];

/** What asking for an access token may say. */
export interface AccessTokenRequest {
  /** A token that the service has just refused, although it should not have expired yet. */
  readonly rejected?: string | undefined;
}

/** Gives an access token for the next call. Throws `ConnectionEndedError` where only a new connect flow would help. */
export type AccessTokenSource = (request?: AccessTokenRequest) => Promise<string>;

/** The tokens of all connected users. */
export interface UserTokens {
  /** Keeps the tokens of a user who has just connected. */
  save(tokens: TokenSet): Promise<void>;
  /** A usable access token of this user, refreshed where it must be. Throws `ConnectionEndedError` or `ConnectError`. */
  accessToken(svcUserId: string, request?: AccessTokenRequest): Promise<string>;
  /** The source that a client for this one user takes. */
  of(svcUserId: string): AccessTokenSource;
  /** Forgets the tokens of a user, for instance on `integration.revoked`. */
  forget(svcUserId: string): Promise<void>;
}

/** What user tokens are made of. */
export interface UserTokensOptions {
  readonly connector: Pick<Connector, 'refresh'>;
  readonly store: TokenStore;
  readonly refreshAheadSeconds?: number | undefined;
  readonly clock?: (() => Date) | undefined;
}

/**
 * Hands out access tokens and refreshes them. Within one process a user is refreshed once however many ask; of several
 * processes that refresh at once, the first to store wins and the others take what it stored.
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

  /** What another process has stored since `stale` was read; throws `failure` where there is nothing newer. */
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
    // The flight that was joined may have begun before the rejection was known.
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
      await sleep(RETRY_DELAYS_MS[attempt - 1]);
    }
  }
};

const isUnavailable = (error: unknown): boolean => error instanceof ConnectError && error.reason === 'unavailable';
