import type { newId } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import { type AccountRecord, normalizeEmail, type VerifyPasswordDeps, verifyPassword } from '../accounts/index.ts';
import { later } from '../clock.ts';
import type { AttemptThrottle } from '../throttling/index.ts';
import type { Executor } from '../transact.ts';
import { insertSession } from './queries.ts';
import { newSessionId, SESSION_MS, type SessionRecord } from './session.ts';
import { type SessionTokenDeps, signSessionToken } from './session-token.ts';

/** What beginning a session needs. */
export interface BeginSessionDeps extends SessionTokenDeps {
  database: Executor;
  newId: typeof newId;
}

/** What signing in needs. */
export interface StartSessionDeps extends BeginSessionDeps, VerifyPasswordDeps {
  throttle: AttemptThrottle;
}

/** A session that has just begun. */
export interface StartedSession {
  session: SessionRecord;
  account: AccountRecord;
  /** Shown to its owner only; not stored. */
  token: string;
}

/** Signs somebody in. Throws `invalid_credentials`, alike for known and unknown addresses, and `too_many_attempts`. */
export const signIn = async (
  deps: StartSessionDeps,
  credentials: { email: string; password: string },
  source: string,
): Promise<StartedSession> => {
  const email = normalizeEmail(credentials.email);
  const attempt = await deps.throttle.begin({ email, source });
  const account = await verifyPassword(deps, credentials);
  if (account === undefined) {
    await attempt.fail();
    throw new AppError('invalid_credentials');
  }
  await attempt.succeed();
  return await startSession(deps, account);
};

/**
 * Begins a session for somebody who has just proved who they are. Throws `invalid_credentials` where the account was signed
 * out everywhere since it was read.
 */
export const startSession = async (deps: BeginSessionDeps, account: AccountRecord): Promise<StartedSession> => {
  const createdAt = deps.clock();
  const session: SessionRecord = {
    id: newSessionId(deps, createdAt, account.sessionsRevokedThrough),
    userId: account.id,
    createdAt,
    expiresAt: later(createdAt, SESSION_MS),
  };
  const isStored = await insertSession(deps.database, session, account.sessionsRevokedThrough);
  // The password was changed while it was checked: what was right a moment ago is not any more.
  if (!isStored) throw new AppError('invalid_credentials');
  return { session, account, token: await signSessionToken(deps, session, account.accountType) };
};
