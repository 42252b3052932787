import { AppError, type Clock, type ConsoleSessionCaller, invalidField } from '@svc/service-kit';
import { type AccountWithPassword, findCredentialsById, type PasswordHasher } from '../accounts/index.ts';
import { findSessionById, type SignInOrigin } from '../sessions/index.ts';
import type { AttemptThrottle } from '../throttling/index.ts';
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

/** Checks the password of an account. Throws `wrong_password` and `too_many_attempts`. */
export const checkPassword = async (
  deps: Pick<ProveOwnerDeps, 'passwords' | 'throttle'>,
  { account, passwordHash }: AccountWithPassword,
  { password, sessionId }: { password: string; sessionId: string },
): Promise<void> => {
  const attempt = await deps.throttle.begin({ email: account.email, sessionId });
  if (!(await deps.passwords.verify(passwordHash ?? undefined, password))) {
    await attempt.fail();
    throw new AppError('wrong_password');
  }
  await attempt.succeed();
};
