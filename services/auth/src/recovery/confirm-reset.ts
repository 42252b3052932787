import { AppError } from '@svc/service-kit';
import {
  findAccountById,
  markVerified,
  type PasswordHasher,
  type PasswordRules,
  redeemMailedToken,
  updateCredentials,
  type VerificationDeps,
} from '../accounts/index.ts';
import { originOf } from '../connections/index.ts';
import { endAccountAccess } from '../credentials/index.ts';
import { enqueueMail } from '../mail/index.ts';
import { findMailedToken, voidMailedTokens } from '../mailed-tokens/index.ts';
import type { AttemptThrottle } from '../throttling/index.ts';
import type { Executor } from '../transact.ts';

export interface ConfirmResetDeps extends VerificationDeps {
  readonly database: Executor;
  readonly passwords: PasswordHasher;
  readonly passwordRules: PasswordRules;
  readonly throttle: AttemptThrottle;
}

export interface ConfirmedReset {
  readonly token: string;
  readonly password: string;
  readonly keepAccess: boolean;
  /** Network address of the request. */
  readonly source: string;
}

/**
 * Sets the password of the account of a mailed link and ends its sessions; unless `keepAccess`, also its connections
 * and API keys. Receiving the mail confirms the address too. Throws `token_invalid`, and 422 if the password is easily
 * guessed; the link then stays valid.
 */
export const confirmReset = async (deps: ConfirmResetDeps, reset: ConfirmedReset): Promise<void> => {
  const query = { purpose: 'reset_password', token: reset.token, now: deps.clock() } as const;
  const found = await findMailedToken(deps.database, query);
  const owner = found === undefined ? undefined : await findAccountById(deps.database, found.userId);
  if (owner === undefined) throw new AppError('token_invalid');
  await deps.passwordRules.check(reset.password, owner, 'password');
  const passwordHash = await deps.passwords.hash(reset.password);
  await deps.transact(async (trx) => {
    const redeemed = await redeemMailedToken(trx, query);
    await updateCredentials(trx, owner.id, { passwordHash });
    // Someone who knew the old password may have requested a change of address.
    await voidMailedTokens(trx, owner.id, { purposes: ['reset_password', 'confirm_email'] });
    const account = await markVerified(trx, redeemed.account, query.now);
    const origin = originOf(reset.source, 'browser');
    await endAccountAccess(deps, trx, { account, origin, now: query.now, keepAccess: reset.keepAccess });
    const { id: userId, email: to, locale } = account;
    await enqueueMail(deps, trx, { kind: 'password_changed', userId, to, locale, data: {} });
  });
  // Failed guesses must not lock out the owner, who has just proved ownership.
  await deps.throttle.forgive(owner.email);
};
