import { appendToOutbox } from '@svc/messaging';
import { AppError, type Clock } from '@svc/service-kit';
import { formatDay } from '../formats.ts';
import { enqueueMail, type MailOutboxDeps } from '../mail/index.ts';
import {
  deleteMailedToken,
  findMailedToken,
  issueMailedToken,
  type MailedTokenQuery,
  type MailedTokenRecord,
} from '../mailed-tokens.ts';
import type { Transact, Transaction } from '../transact.ts';
import { type AccountRecord, type AccountWithPassword, lockAccount, updateCredentials } from './account.ts';

/** A used token, with the current state of its account. */
export interface RedeemedToken extends AccountWithPassword {
  readonly token: MailedTokenRecord;
}

/**
 * Locks the account of a token, then uses the token up. All changes of an account lock in this order. Throws
 * `token_invalid`.
 */
export const redeemMailedToken = async (trx: Transaction, query: MailedTokenQuery): Promise<RedeemedToken> => {
  const found = await findMailedToken(trx, query);
  const locked = found === undefined ? undefined : await lockAccount(trx, found.userId);
  if (found === undefined || locked === undefined) throw new AppError('token_invalid');
  if (!(await deleteMailedToken(trx, query))) throw new AppError('token_invalid');
  return { ...locked, token: found };
};

export interface VerificationDeps extends MailOutboxDeps {
  readonly transact: Transact;
  readonly clock: Clock;
  /** If true, accounts without a confirmed address are read-only. */
  readonly isVerificationRequired: boolean;
}

/** Mails a link that confirms an account's address. */
export const mailVerification = async (
  deps: MailOutboxDeps,
  trx: Transaction,
  { id: userId, email, locale }: AccountRecord,
): Promise<void> => {
  const token = await issueMailedToken(trx, { purpose: 'verify_email', userId, email }, deps.clock());
  await enqueueMail(deps, trx, { kind: 'verify_email', userId, to: email, locale, data: { token } });
};

/** Mails the confirmation link again, unless the address is confirmed. */
export const requestVerification = async (deps: VerificationDeps, userId: string): Promise<void> => {
  await deps.transact(async (trx) => {
    const locked = await lockAccount(trx, userId);
    if (locked === undefined) throw new AppError('invalid_token');
    if (locked.account.emailVerifiedAt === null) await mailVerification(deps, trx, locked.account);
  });
};

/** Confirms the address to which a link was mailed. Throws `token_invalid`, also if the address has changed since. */
export const confirmVerification = async (deps: VerificationDeps, token: string): Promise<AccountRecord> => {
  const now = deps.clock();
  return await deps.transact(async (trx) => {
    const { account, token: used } = await redeemMailedToken(trx, { purpose: 'verify_email', token, now });
    if (account.email !== used.email) throw new AppError('token_invalid');
    return await markVerified(trx, account, now);
  });
};

/** Marks the address of a locked account as confirmed: here at once, in other services within a second. */
export const markVerified = async (trx: Transaction, account: AccountRecord, now: Date): Promise<AccountRecord> => {
  if (account.emailVerifiedAt !== null) return account;
  await updateCredentials(trx, account.id, { emailVerifiedAt: now });
  await appendToOutbox(trx, { revocation: { key: `verified.${account.id}` } });
  return { ...account, emailVerifiedAt: now };
};

/**
 * Mails the owner of an account that will be erased a link to cancel the deletion. An organization also has owners with other
 * addresses: `recipient` is one of them.
 */
export const mailDeletion = async (
  deps: MailOutboxDeps,
  trx: Transaction,
  account: AccountRecord & { readonly eraseAt: Date },
  recipient: AccountRecord = account,
): Promise<void> => {
  const { id: userId, eraseAt } = account;
  const { email, locale } = recipient;
  const token = await issueMailedToken(trx, { purpose: 'cancel_deletion', userId, email }, deps.clock());
  const organization = recipient === account ? null : (account.businessName ?? account.email);
  const data = { token, erasedOn: formatDay(eraseAt.toISOString(), locale), organization };
  await enqueueMail(deps, trx, { kind: 'deletion_requested', userId, to: email, locale, data });
};
