import { AppError } from '@svc/service-kit';
import {
  type AccountRecord,
  findAccountById,
  markVerified,
  type PasswordHasher,
  type PasswordRules,
  redeemMailedToken,
  updateCredentials,
  type VerificationDeps,
} from '../accounts/index.ts';
import { originOf } from '../connections/index.ts';
import { distrustedSinceChange, endAccess } from '../credentials/index.ts';
import { enqueueMail } from '../mail/index.ts';
import { findMailedToken, findOldestChangeOf } from '../mailed-tokens/index.ts';
import type { AttemptThrottle } from '../throttling/index.ts';
import type { Executor, Transaction } from '../transact.ts';

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
 * and API keys. Receiving the mail confirms the address. If nothing had confirmed it before, every second factor and
 * identity ends, because the mailbox is the only proof of the owner. After a change of address that was undone or can
 * still be, what was added since ends as well. Throws `token_invalid`, and 422 if the password is easily guessed; the
 * link then stays valid.
 */
export const confirmReset = async (deps: ConfirmResetDeps, reset: ConfirmedReset): Promise<void> => {
  const query = { purpose: 'reset_password', token: reset.token, now: deps.clock() } as const;
  const found = await findMailedToken(deps.database, query);
  const owner = found === undefined ? undefined : await findAccountById(deps.database, found.userId);
  if (owner === undefined) throw new AppError('token_invalid');
  await deps.passwordRules.check(reset.password, owner, 'password');
  const passwordHash = await deps.passwords.hash(reset.password);
  await deps.transact(async (trx) => {
    const { account } = await redeemMailedToken(trx, query);
    await updateCredentials(trx, owner.id, { passwordHash, distrustedSince: null });
    const distrustedSince = await findDistrust(trx, account, query.now);
    await markVerified(trx, account, query.now);
    await endAccess(deps, trx, {
      account,
      origin: originOf(reset.source, 'browser'),
      now: query.now,
      endings: [
        'sign_out',
        ...(reset.keepAccess ? [] : ['revocation' as const]),
        ...(account.emailVerifiedAt === null ? ['unproven_address' as const] : []),
        ...(distrustedSince === undefined ? [] : ['intrusion' as const]),
      ],
      ...(distrustedSince === undefined ? {} : { distrustedSince }),
    });
    const { id: userId, email: to, locale } = account;
    await enqueueMail(deps, trx, { kind: 'password_changed', userId, to, locale, data: {} });
  });
  // Failed guesses must not lock out the owner, who has just proved ownership.
  await deps.throttle.forgive(owner.email);
};

/** Returns the time since which credentials are distrusted; undefined without an undone or a waiting change of address. */
const findDistrust = async (trx: Transaction, account: AccountRecord, now: Date): Promise<Date | undefined> => {
  const { id: userId, email } = account;
  const changedAt = await findOldestChangeOf(trx, { userId, email, now });
  const times = [account.distrustedSince, changedAt === undefined ? null : distrustedSinceChange(account, changedAt)];
  return times.filter((time) => time !== null).sort((one, other) => one.getTime() - other.getTime())[0];
};
