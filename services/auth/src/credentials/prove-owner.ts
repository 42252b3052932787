import { AppError, type Clock, type ConsoleSessionCaller, invalidField } from '@svc/service-kit';
import {
  type AccountRecord,
  type AccountWithPassword,
  findCredentialsById,
  type PasswordHasher,
} from '../accounts/index.ts';
import { type FactorClaim, type FactorsDeps, findFactorProof } from '../factors/index.ts';
import {
  type BeginSessionDeps,
  findSessionById,
  renewSession,
  type SignedSessionToken,
  type SignInOrigin,
  signInOf,
  updateAuthenticatedAt,
} from '../sessions/index.ts';
import type { AttemptThrottle } from '../throttling.ts';
import { later, MINUTE_MS } from '../time.ts';
import type { Executor } from '../transact.ts';

/** Maximum age of a session that may set the first password of an account. */
const FRESH_MS = 10 * MINUTE_MS;

export interface ProveOwnerDeps {
  readonly database: Executor;
  readonly clock: Clock;
  readonly passwords: PasswordHasher;
  readonly throttle: AttemptThrottle;
}

/** A claim by the holder of a session to own its account. */
export interface OwnerClaim extends SignInOrigin {
  readonly caller: ConsoleSessionCaller;
  readonly password: string | undefined;
}

/**
 * Proves that the holder of a session owns the account, since a session may have been left open or stolen. Checks the
 * password or, if the account has none, requires a fresh sign-in. Each session has a separate budget of wrong guesses.
 * Throws `wrong_password`, `too_many_attempts`, `fresh_sign_in_required`, and 422 if the password is missing.
 */
export const proveOwner = async (deps: ProveOwnerDeps, claim: OwnerClaim): Promise<AccountWithPassword> => {
  const owner = await findCredentialsById(deps.database, claim.caller.personId);
  if (owner === undefined) throw new AppError('invalid_token');
  const { caller, password } = claim;
  if (owner.passwordHash === null) await checkFreshSession(deps, caller.sessionId);
  else if (password === undefined) throw invalidField(['body', 'current_password'], 'missing', 'Field required');
  else await checkPassword(deps, owner, { password, sessionId: caller.sessionId });
  return owner;
};

/**
 * As `proveOwner`, for routes with `stepUp`: a recent authentication is proof enough for an account without a password.
 * An account with a password wants it, however recent the sign-in. A missing password is a wrong one, but no guess.
 */
export const proveOwnerAfterStepUp = async (deps: ProveOwnerDeps, claim: OwnerClaim): Promise<AccountWithPassword> => {
  if (claim.password !== undefined) return await proveOwner(deps, claim);
  const owner = await findCredentialsById(deps.database, claim.caller.personId);
  if (owner === undefined) throw new AppError('invalid_token');
  if (owner.passwordHash !== null) throw new AppError('wrong_password', 'Send the password of the account.');
  return owner;
};

const checkFreshSession = async (deps: ProveOwnerDeps, sessionId: string): Promise<void> => {
  const session = await findSessionById(deps.database, sessionId);
  const isFresh = session !== undefined && later(session.authenticatedAt, FRESH_MS) > deps.clock();
  if (!isFresh) throw new AppError('fresh_sign_in_required');
};

/**
 * Begins a guess by the holder of a session. Sessions that act for an organization share the budget of their sign-in, since its
 * holder can start any number of them.
 */
const beginGuess = async (
  { database, throttle }: Pick<ProveOwnerDeps, 'database' | 'throttle'>,
  { email }: AccountRecord,
  sessionId: string,
): ReturnType<AttemptThrottle['begin']> => {
  const session = await findSessionById(database, sessionId);
  if (session === undefined) throw new AppError('invalid_token');
  return await throttle.begin({ email, sessionId: signInOf(session) });
};

/** Checks the password of an account. Throws `wrong_password` and `too_many_attempts`. */
const checkPassword = async (
  deps: Pick<ProveOwnerDeps, 'database' | 'passwords' | 'throttle'>,
  { account, passwordHash }: AccountWithPassword,
  { password, sessionId }: { password: string; sessionId: string },
): Promise<void> => {
  const attempt = await beginGuess(deps, account, sessionId);
  if (!(await deps.passwords.verify(passwordHash ?? undefined, password, account.id))) {
    await attempt.fail();
    throw new AppError('wrong_password');
  }
  await attempt.succeed();
};

export interface ReauthenticateDeps extends ProveOwnerDeps, BeginSessionDeps, FactorsDeps {}

/**
 * Authenticates the person at a session again, by password or second factor. Returns a token with the new time. Throws
 * `wrong_password`, `wrong_code`, `too_many_attempts`, and `fresh_sign_in_required` for a password if the account has
 * none.
 */
export const reauthenticate = async (
  deps: ReauthenticateDeps,
  caller: ConsoleSessionCaller,
  claim: { password: string } | FactorClaim,
): Promise<SignedSessionToken> => {
  const owner = await findCredentialsById(deps.database, caller.personId);
  if (owner === undefined) throw new AppError('invalid_token');
  if (!('password' in claim)) await useFactor(deps, owner.account, { claim, sessionId: caller.sessionId });
  else if (owner.passwordHash === null) throw new AppError('fresh_sign_in_required');
  else await checkPassword(deps, owner, { password: claim.password, sessionId: caller.sessionId });
  const session = await updateAuthenticatedAt(deps.database, caller.sessionId, deps.clock());
  if (session === undefined) throw new AppError('invalid_token');
  return await renewSession(deps, session, owner.account);
};

const useFactor = async (
  deps: ReauthenticateDeps,
  account: AccountRecord,
  { claim, sessionId }: { claim: FactorClaim; sessionId: string },
): Promise<void> => {
  const attempt = await beginGuess(deps, account, sessionId);
  const proof = await findFactorProof(deps, account, { claim, purpose: 'reauthentication' });
  if (proof === undefined) {
    await attempt.fail();
    throw new AppError('wrong_code');
  }
  await attempt.succeed();
  const isFirst = await deps.transact((trx) => proof.use(trx));
  if (!isFirst) throw new AppError('wrong_code');
};
