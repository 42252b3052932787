import { isUniqueViolation } from '@svc/database';
import { AppError } from '@svc/service-kit';
import {
  type AccountRecord,
  type AccountWithPassword,
  EMAIL_KEY,
  isAddressFree,
  lockAccount,
  mailDeletion,
  markVerified,
  normalizeEmail,
  redeemMailedToken,
  updateCredentials,
  type VerificationDeps,
} from '../accounts/index.ts';
import { originOf } from '../connections/index.ts';
import { enqueueMail } from '../mail/index.ts';
import { issueMailedToken, voidMailedTokens } from '../mailed-tokens.ts';
import type { Transaction } from '../transact.ts';
import { distrustedSinceChange, endAccess } from './end-access.ts';
import { type OwnerClaim, type ProveOwnerDeps, proveOwner } from './prove-owner.ts';

export interface ChangeEmailDeps extends ProveOwnerDeps, VerificationDeps {}

/**
 * Mails a confirmation link to the new address, and an undo link to the current one. Returns the new address. Throws as
 * `proveOwner`, and `email_taken`, which counts as a failure of its source. If addresses must be confirmed, a taken one
 * gets the same answer as a free one, but no mail.
 */
export const requestEmailChange = async (
  deps: ChangeEmailDeps,
  claim: OwnerClaim,
  newEmail: string,
): Promise<string> => {
  const owner = await proveOwner(deps, claim);
  const email = normalizeEmail(newEmail);
  const attempt = await deps.throttle.begin({ source: claim.source });
  const isFree = await isAddressFree(deps.database, email, { now: deps.clock(), userId: owner.account.id });
  if (!isFree && !deps.isVerificationRequired) {
    await attempt.fail();
    throw new AppError('email_taken');
  }
  await deps.transact((trx) => mailLinks(deps, trx, { owner, email, isFree }));
  return email;
};

const mailLinks = async (
  deps: ChangeEmailDeps,
  trx: Transaction,
  { owner, email, isFree }: { owner: AccountWithPassword; email: string; isFree: boolean },
): Promise<void> => {
  const locked = await lockAccount(trx, owner.account.id);
  if (locked === undefined) throw new AppError('invalid_token');
  // Another request changed the password after the check, so the check no longer proves the owner.
  if (locked.passwordHash !== owner.passwordHash) throw new AppError('wrong_password');
  const { id: userId, email: presentEmail, locale } = locked.account;
  await voidMailedTokens(trx, userId, { purposes: ['confirm_email'] });
  const now = deps.clock();
  if (isFree) {
    const token = await issueMailedToken(trx, { purpose: 'confirm_email', userId, email }, now);
    await enqueueMail(deps, trx, { kind: 'confirm_email_change', userId, to: email, locale, data: { token } });
  }
  const token = await issueMailedToken(trx, { purpose: 'undo_email', userId, email: presentEmail }, now);
  const data = { token, newEmail: email };
  await enqueueMail(deps, trx, { kind: 'email_change_requested', userId, to: presentEmail, locale, data });
};

/**
 * Changes the address to that of the mailed link. Throws `token_invalid`, and `email_taken` if it is no longer free.
 */
export const confirmEmailChange = async (deps: ChangeEmailDeps, token: string): Promise<AccountRecord> => {
  const now = deps.clock();
  return await orEmailTaken(() =>
    deps.transact(async (trx) => {
      const { account, token: used } = await redeemMailedToken(trx, { purpose: 'confirm_email', token, now });
      const { email, createdAt: requestedAt } = used;
      if (!(await isAddressFree(trx, email, { now, userId: account.id }))) throw new AppError('email_taken');
      const changed = await moveTo(trx, account, { email, now });
      const { id: userId, email: to, locale } = account;
      const undo = await issueMailedToken(trx, { purpose: 'undo_email', userId, email: to, requestedAt }, now);
      await enqueueMail(deps, trx, {
        kind: 'email_changed',
        userId,
        to,
        locale,
        data: { token: undo, newEmail: email },
      });
      return changed;
    }),
  );
};

/**
 * Restores the address of the mailed link, or cancels an unconfirmed change. Signs the account out everywhere, and ends
 * what was added since the change or in the day before. The request proved that an intruder knows the password, so the
 * account remembers that time for the next reset. Links mailed to later addresses become void. Throws `token_invalid`, and
 * `email_taken` if another account has the address.
 */
export const undoEmailChange = async (deps: ChangeEmailDeps, token: string, source: string): Promise<AccountRecord> => {
  const now = deps.clock();
  return await orEmailTaken(() =>
    deps.transact(async (trx) => {
      const { account, token: used } = await redeemMailedToken(trx, { purpose: 'undo_email', token, now });
      const { email, createdAt: changedAt } = used;
      await voidMailedTokens(trx, account.id, { purposes: ['undo_email'], since: changedAt });
      const restored = await moveTo(trx, account, { email, now });
      const distrustedSince = earlierOf(account.distrustedSince, distrustedSinceChange(account, changedAt));
      await updateCredentials(trx, account.id, { distrustedSince });
      const origin = originOf(source, 'browser');
      const endings = ['sign_out', 'intrusion'] as const;
      const ended = await endAccess(deps, trx, { account: restored, origin, now, endings, distrustedSince });
      // The link that cancels a deletion was mailed to the previous address.
      if (ended.eraseAt !== null) await mailDeletion(deps, trx, { ...ended, eraseAt: ended.eraseAt });
      return ended;
    }),
  );
};

const earlierOf = (one: Date | null, other: Date): Date => (one !== null && one < other ? one : other);

/** Sets a confirmed address on a locked account. Voids links mailed to the previous address, except undo links. */
const moveTo = async (
  trx: Transaction,
  account: AccountRecord,
  { email, now }: { email: string; now: Date },
): Promise<AccountRecord> => {
  await voidMailedTokens(trx, account.id, { purposes: ['confirm_email', 'reset_password', 'verify_email'] });
  if (account.email !== email) await updateCredentials(trx, account.id, { email });
  return await markVerified(trx, { ...account, email }, now);
};

const orEmailTaken = async <T>(change: () => Promise<T>): Promise<T> => {
  try {
    return await change();
  } catch (error) {
    // Another request took the address meanwhile.
    if (isUniqueViolation(error, EMAIL_KEY)) throw new AppError('email_taken');
    throw error;
  }
};
