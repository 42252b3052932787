import { AppError, type ConsoleSessionCaller } from '@svc/service-kit';
import {
  type AccountRecord,
  holdAccount,
  lockAccount,
  type PasswordRules,
  updateCredentials,
} from '../accounts/index.ts';
import { originOf } from '../connections/index.ts';
import { enqueueMail } from '../mail/index.ts';
import { type BeginSessionDeps, insertNewSession, type StartedSession } from '../sessions/index.ts';
import type { Transaction } from '../transact.ts';
import { endAccess } from './end-access.ts';
import { type OwnerClaim, type ProveOwnerDeps, proveOwner } from './prove-owner.ts';

export interface ChangePasswordDeps extends ProveOwnerDeps, BeginSessionDeps {
  readonly passwordRules: PasswordRules;
}

/**
 * Changes the password, ends every session of the account and, if `revokeAccess`, its connections and API keys. Starts
 * a new session, for the organization that the person acts for. Throws as `proveOwner`, and 422 if the password is easily guessed.
 */
export const changePassword = async (
  deps: ChangePasswordDeps,
  claim: OwnerClaim,
  { newPassword, revokeAccess }: { newPassword: string; revokeAccess: boolean },
): Promise<StartedSession> => {
  const owner = await proveOwner(deps, claim);
  await deps.passwordRules.check(newPassword, owner.account, 'new_password');
  const passwordHash = await deps.passwords.hash(newPassword);
  return await deps.transact(async (trx) => {
    const locked = await lockAccount(trx, owner.account.id);
    if (locked === undefined) throw new AppError('invalid_token');
    // Another request changed the password after the check, so the check no longer proves the owner.
    if (locked.passwordHash !== owner.passwordHash) throw new AppError('wrong_password');
    const { account } = locked;
    await updateCredentials(trx, account.id, { passwordHash });
    const signedOut = await endAccess(deps, trx, {
      account,
      origin: originOf(claim.source, 'console'),
      now: deps.clock(),
      endings: revokeAccess ? ['sign_out', 'revocation'] : ['sign_out'],
    });
    const organization = await holdOrganization(trx, claim.caller);
    const { id: userId, email: to, locale } = account;
    await enqueueMail(deps, trx, { kind: 'password_changed', userId, to, locale, data: {} });
    return await insertNewSession(deps, trx, { account: signedOut, origin: claim, organization });
  });
};

/** Holds the organization that the person acts for; undefined for an account that acts for itself. */
const holdOrganization = async (
  trx: Transaction,
  { personId, organization }: ConsoleSessionCaller,
): Promise<AccountRecord | undefined> =>
  organization === null || organization.id === personId ? undefined : await holdAccount(trx, organization.id);
