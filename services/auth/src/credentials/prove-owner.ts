import { AppError, type ConsoleSessionCaller, invalidField } from '@svc/service-kit';
import { type AccountWithPassword, findCredentialsById, type PasswordHasher } from '../accounts/index.ts';
import { type Clock, later, MINUTE_MS } from '../clock.ts';
import { findSessionById } from '../sessions/index.ts';
import type { AttemptThrottle } from '../throttling/index.ts';
import type { Executor } from '../transact.ts';

/** How long after signing in somebody without a password may set one. */
const FRESH_MS = 10 * MINUTE_MS;

/** What proving an owner needs. */
export interface ProveOwnerDeps {
  database: Executor;
  clock: Clock;
  passwords: PasswordHasher;
  throttle: AttemptThrottle;
}

/** Who says that the account is theirs, and how. */
export interface OwnerClaim {
  caller: ConsoleSessionCaller;
  password: string | undefined;
  /** The network address that this comes from. */
  source: string;
}

/**
 * A session alone may have been left open or stolen: its holder proves to be the owner by the password, guessed no more
 * often than at sign-in, or where the account has none, by having signed in just now. Throws `wrong_password`,
 * `too_many_attempts`, `fresh_sign_in_required`, and 422 where the password is left out.
 */
export const proveOwner = async (deps: ProveOwnerDeps, claim: OwnerClaim): Promise<AccountWithPassword> => {
  const owner = await findCredentialsById(deps.database, claim.caller.userId);
  if (owner === undefined) throw new AppError('invalid_token');
  if (owner.passwordHash === null) await checkFreshSession(deps, claim.caller.sessionId);
  else await checkPassword(deps, { ...owner, passwordHash: owner.passwordHash }, claim);
  return owner;
};

const checkFreshSession = async (deps: ProveOwnerDeps, sessionId: string): Promise<void> => {
  const session = await findSessionById(deps.database, sessionId);
  const isFresh = session !== undefined && later(session.createdAt, FRESH_MS) > deps.clock();
  if (!isFresh) throw new AppError('fresh_sign_in_required');
};

const checkPassword = async (
  deps: ProveOwnerDeps,
  { account, passwordHash }: AccountWithPassword & { passwordHash: string },
  { password, source }: OwnerClaim,
): Promise<void> => {
  if (password === undefined) throw invalidField(['body', 'current_password'], 'missing', 'Field required');
  const attempt = await deps.throttle.begin({ email: account.email, source });
  if (!(await deps.passwords.verify(passwordHash, password))) {
    await attempt.fail();
    throw new AppError('wrong_password');
  }
  await attempt.succeed();
};
