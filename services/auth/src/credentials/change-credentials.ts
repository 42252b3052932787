import { isUniqueViolation } from '@svc/database';
import { AppError } from '@svc/service-kit';
import {
  type AccountWithPassword,
  EMAIL_KEY,
  findAccountByEmail,
  lockAccount,
  normalizeEmail,
  type PasswordRules,
  updateCredentials,
} from '../accounts/index.ts';
import { originOf } from '../connections/index.ts';
import { type BeginSessionDeps, type StartedSession, startSession } from '../sessions/index.ts';
import type { Transact } from '../transact.ts';
import { endAccountAccess } from './end-account-access.ts';
import { type OwnerClaim, type ProveOwnerDeps, proveOwner } from './prove-owner.ts';

export interface ChangeCredentialsDeps extends ProveOwnerDeps, BeginSessionDeps {
  readonly transact: Transact;
  readonly passwordRules: PasswordRules;
}

/**
 * Changes the password, ends every session of the account and, if `revokeAccess`, its connections and API keys; begins
 * a new session. Throws as `proveOwner`, and 422 if the password is easily guessed.
 */
export const changePassword = async (
  deps: ChangeCredentialsDeps,
  claim: OwnerClaim,
  { newPassword, revokeAccess }: { newPassword: string; revokeAccess: boolean },
): Promise<StartedSession> => {
  const owner = await proveOwner(deps, claim);
  await deps.passwordRules.check(newPassword, owner.account, 'new_password');
  const passwordHash = await deps.passwords.hash(newPassword);
  return await change(deps, owner, { passwordHash, claim, keepAccess: !revokeAccess });
};

/**
 * Changes the address, ends every session of the account and begins a new one. Throws as `proveOwner`, and `email_taken`,
 * which counts as a failure of its source: trying many addresses is how they are harvested.
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
  const started = isFree ? await changeToFreeEmail(deps, owner, { email, claim }) : undefined;
  if (started !== undefined) return started;
  await attempt.fail();
  throw new AppError('email_taken');
};

/** Returns undefined if another request took the address first. */
const changeToFreeEmail = async (
  deps: ChangeCredentialsDeps,
  owner: AccountWithPassword,
  changed: { email: string; claim: OwnerClaim },
): Promise<StartedSession | undefined> => {
  try {
    return await change(deps, owner, { ...changed, keepAccess: true });
  } catch (error) {
    if (isUniqueViolation(error, EMAIL_KEY)) return undefined;
    throw error;
  }
};

interface Change {
  readonly email?: string;
  readonly passwordHash?: string;
  readonly claim: OwnerClaim;
  readonly keepAccess: boolean;
}

const change = (
  deps: ChangeCredentialsDeps,
  owner: AccountWithPassword,
  { claim, keepAccess, ...changed }: Change,
): Promise<StartedSession> =>
  deps.transact(async (trx) => {
    const locked = await lockAccount(trx, owner.account.id);
    if (locked === undefined) throw new AppError('invalid_token');
    // Another request changed the password since it was checked, so it no longer proves the owner.
    if (locked.passwordHash !== owner.passwordHash) throw new AppError('wrong_password');
    await updateCredentials(trx, owner.account.id, changed);
    const account = { ...locked.account, ...(changed.email === undefined ? {} : { email: changed.email }) };
    const origin = originOf(claim.source, 'console');
    const signedOut = await endAccountAccess(deps, trx, { account, origin, now: deps.clock(), keepAccess });
    return await startSession({ ...deps, database: trx }, signedOut, claim);
  });
