import type { ListedSession } from '@svc/contracts';
import { AppError, type Clock, type ConsoleSessionCaller } from '@svc/service-kit';
import { type AccountRecord, findAccountById } from '../accounts/index.ts';
import { toActingFor } from '../memberships.ts';
import { later, MINUTE_MS, SECOND_MS, toUnixSeconds } from '../time.ts';
import type { Executor } from '../transact.ts';
import {
  endOfSession,
  findActing,
  findSessionById,
  listSessionsOfUser,
  markSessionUsed,
  type SessionRecord,
  signInOf,
} from './session.ts';
import { readSessionToken, type SessionClaims, type SessionTokenDeps } from './session-token.ts';

export interface AuthenticateSessionDeps extends SessionTokenDeps {
  readonly database: Executor;
}

/**
 * Authenticates a session token. Other services learn of a sign-out through the revocations; this one reads its table,
 * so that it refuses at once, and lets the present role hold. Throws `invalid_token`.
 */
export const authenticateSession = async (
  deps: AuthenticateSessionDeps,
  token: string,
): Promise<ConsoleSessionCaller> => {
  const claims = await readSessionToken(deps, token);
  const session = await findLiveSession(deps, claims);
  if (session === undefined) throw new AppError('invalid_token');
  const { userId: personId, accountType } = claims;
  const acting = await findActing(deps.database, session, { id: personId, accountType });
  if (acting === undefined) throw new AppError('invalid_token');
  // In whole seconds, as in tokens.
  const expiresAt = new Date(toUnixSeconds(endOfSession(session, deps.sessionIdleMs)) * SECOND_MS);
  return {
    kind: 'console_session',
    ...claims,
    personId,
    accountType: acting === null ? accountType : 'business',
    organization: acting === null ? null : toActingFor(acting),
    isEmailUnverified: claims.isEmailUnverified && !(await isVerified(deps, personId)),
    expiresAt,
  };
};

/** Returns true if the address is confirmed now: the token may be older than the confirmation. */
const isVerified = async (deps: AuthenticateSessionDeps, userId: string): Promise<boolean> =>
  (await findAccountById(deps.database, userId))?.emailVerifiedAt != null;

/** Finds the session of a cookie's token; undefined if it is no longer valid. */
export const findStoredSession = async (
  deps: AuthenticateSessionDeps,
  token: string,
): Promise<SessionRecord | undefined> => {
  try {
    return await findLiveSession(deps, await readSessionToken(deps, token));
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_token') return undefined;
    throw error;
  }
};

/** Finds the session of a token unless it was ended, has expired or was idle for too long, and records its use. */
const findLiveSession = async (
  deps: AuthenticateSessionDeps,
  { sessionId, userId }: SessionClaims,
): Promise<SessionRecord | undefined> => {
  const session = await findSessionById(deps.database, sessionId);
  const now = deps.clock();
  if (session?.userId !== userId || endOfSession(session, deps.sessionIdleMs) <= now) return undefined;
  // Writing on each request would be too much. The idle time still counts from the last use, not from the last write.
  const pauseMs = Math.min(MINUTE_MS, deps.sessionIdleMs / 4);
  if (later(session.lastUsedAt, pauseMs) > now) return session;
  await markSessionUsed(deps.database, session, now);
  return { ...session, lastUsedAt: now };
};

/** A signed-in person in a browser. */
export interface BrowserSession {
  readonly session: SessionRecord;
  readonly account: AccountRecord;
}

/** Finds the session of a cookie's token; undefined if it is not live. */
export const findBrowserSession = async (
  deps: AuthenticateSessionDeps,
  token: string | undefined,
): Promise<BrowserSession | undefined> => {
  const session = token === undefined ? undefined : await findStoredSession(deps, token);
  const account = session === undefined ? undefined : await findAccountById(deps.database, session.userId);
  return session === undefined || account === undefined ? undefined : { session, account };
};

const SESSIONS_MAX = 200;

export interface ListSessionsDeps {
  readonly database: Executor;
  readonly clock: Clock;
  readonly sessionIdleMs: number;
}

/** Lists the live sessions of an account, last used first. */
export const listLiveSessions = async (deps: ListSessionsDeps, userId: string): Promise<SessionRecord[]> => {
  const now = deps.clock();
  const sessions = await listSessionsOfUser(deps.database, userId, { now, limit: SESSIONS_MAX });
  return sessions.filter((session) => endOfSession(session, deps.sessionIdleMs) > now);
};

/** Lists the live sessions of the caller's account as JSON for their owner. */
export const listSessions = async (
  deps: ListSessionsDeps,
  caller: { userId: string; sessionId: string },
): Promise<ListedSession[]> => {
  const sessions = await listLiveSessions(deps, caller.userId);
  const current = await findSessionById(deps.database, caller.sessionId);
  return sessions.map((session) => ({
    id: session.id,
    created_at: session.createdAt.toISOString(),
    last_used_at: session.lastUsedAt.toISOString(),
    user_agent: session.userAgent,
    source: session.network,
    is_current: current !== undefined && session.id === signInOf(current),
  }));
};
