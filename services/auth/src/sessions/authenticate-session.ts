import { AppError, type ConsoleSessionCaller } from '@svc/service-kit';
import { type AccountRecord, findAccountById } from '../accounts/index.ts';
import type { Executor } from '../transact.ts';
import { findSessionById } from './queries.ts';
import type { SessionRecord } from './session.ts';
import { readSessionToken, type SessionTokenDeps } from './session-token.ts';

/** What recognising a session needs. */
export interface AuthenticateSessionDeps extends SessionTokenDeps {
  readonly database: Executor;
}

/**
 * Turns a session token into its caller. The other services learn of a sign-out through the revocations; this one asks its
 * own table, so that it refuses at once. Throws `invalid_token`.
 */
export const authenticateSession = async (
  deps: AuthenticateSessionDeps,
  token: string,
): Promise<ConsoleSessionCaller> => {
  const claims = await readSessionToken(deps, token);
  const session = await findSessionById(deps.database, claims.sessionId);
  if (session === undefined || session.userId !== claims.userId) throw new AppError('invalid_token');
  return { kind: 'console_session', ...claims };
};

/** The session of a token that came in a cookie, or undefined where it is not good any more. */
export const findStoredSession = async (
  deps: AuthenticateSessionDeps,
  token: string,
): Promise<SessionRecord | undefined> => {
  try {
    const { sessionId, userId } = await readSessionToken(deps, token);
    const session = await findSessionById(deps.database, sessionId);
    return session?.userId === userId ? session : undefined;
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_token') return undefined;
    throw error;
  }
};

/** A signed-in person in a browser. */
export interface BrowserSession {
  readonly session: SessionRecord;
  readonly account: AccountRecord;
}

/** Who is signed in by this cookie's token, or undefined. */
export const findBrowserSession = async (
  deps: AuthenticateSessionDeps,
  token: string | undefined,
): Promise<BrowserSession | undefined> => {
  const session = token === undefined ? undefined : await findStoredSession(deps, token);
  const account = session === undefined ? undefined : await findAccountById(deps.database, session.userId);
  return session === undefined || account === undefined ? undefined : { session, account };
};
