import { isUniqueViolation } from '@svc/database';
import { AppError, invalidField } from '@svc/service-kit';
import {
  type AccountWithPassword,
  EMAIL_KEY,
  findAccountByEmail,
  findPasswordFault,
  lockAccount,
  normalizeEmail,
  updateCredentials,
} from '../accounts/index.ts';
import { type BeginSessionDeps, endAllSessions, type StartedSession, startSession } from '../sessions/index.ts';
import type { Transact } from '../transact.ts';
import { type OwnerClaim, type ProveOwnerDeps, proveOwner } from './prove-owner.ts';

/** What changing password or address needs. */
export interface ChangeCredentialsDeps extends ProveOwnerDeps, BeginSessionDeps {
  transact: Transact;
}

/**
 * Changes the password, ends every session of the account and begins a new one. Throws as `proveOwner`, and 422 on a
 * password that is easily guessed.
 */
export const changePassword = async (
  deps: ChangeCredentialsDeps,
  claim: OwnerClaim,
  newPassword: string,
): Promise<StartedSession> => {
  const owner = await proveOwner(deps, claim);
  const fault = findPasswordFault(newPassword, owner.account.email);
  if (fault !== undefined) throw invalidField(['body', 'new_password'], 'value_error', `Value error, ${fault}`);
  return await change(deps, owner, { passwordHash: await deps.passwords.hash(newPassword) });
};

/**
 * Changes the address, ends every session of the account and begins a new one. Throws as `proveOwner`, and `email_taken`,
 * which counts as a failure of its source: asking for many addresses is how they are harvested.
 */
export const changeEmail = async (
  deps: ChangeCredentialsDeps,
  claim: OwnerClaim,
  newEmail: string,
): Promise<StartedSession> => {
  const owner = await proveOwner(deps, claim);
  const email = normalizeEmail(newEmail);
  const attempt = await deps.throttle.begin({ source: claim.source });
  const holder = await findAccountByEmail(deps.database, email);
  const isFree = holder === undefined || holder.account.id === owner.account.id;
  const started = isFree ? await changeToFreeEmail(deps, owner, email) : undefined;
  if (started !== undefined) return started;
  await attempt.fail();
  throw new AppError('email_taken');
};

/** Undefined where somebody else was faster. */
const changeToFreeEmail = async (
  deps: ChangeCredentialsDeps,
  owner: AccountWithPassword,
  email: string,
): Promise<StartedSession | undefined> => {
  try {
    return await change(deps, owner, { email });
  } catch (error) {
    if (isUniqueViolation(error, EMAIL_KEY)) return undefined;
    throw error;
  }
};

const change = (
  deps: ChangeCredentialsDeps,
  owner: AccountWithPassword,
  changed: { email?: string; passwordHash?: string },
): Promise<StartedSession> =>
  deps.transact(async (trx) => {
    const locked = await lockAccount(trx, owner.account.id);
    if (locked === undefined) throw new AppError('invalid_token');
    // Changed by somebody else since it was checked: what proved the owner then does not any more.
    if (locked.passwordHash !== owner.passwordHash) throw new AppError('wrong_password');
    await updateCredentials(trx, owner.account.id, changed);
    const account = { ...locked.account, ...(changed.email === undefined ? {} : { email: changed.email }) };
    const signedOut = await endAllSessions(deps, trx, { account, now: deps.clock() });
    return await startSession({ ...deps, database: trx }, signedOut);
  });
