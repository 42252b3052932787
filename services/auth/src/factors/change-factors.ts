import { hash, randomBytes } from 'node:crypto';
import type { Sealer } from '@svc/secrets';
import { AppError } from '@svc/service-kit';
import { type AccountRecord, lockAccount, updateCredentials } from '../accounts/index.ts';
import { enqueueMail, type MailData, type MailOutboxDeps } from '../mail/index.ts';
import type { Executor, Transact, Transaction } from '../transact.ts';
import { deletePasskeysOfUser, type PasskeyChallenges, type RelyingParty } from './passkeys.ts';
import { deleteRecoveryCodesOfUser, deleteTotpsOfUser, listFactorsOfUser, replaceRecoveryCodes } from './queries.ts';

/** Dependencies of every operation on second factors. */
export interface FactorsDeps extends MailOutboxDeps {
  readonly database: Executor;
  readonly transact: Transact;
  /** Encrypts the secrets of TOTP factors. */
  readonly totpSealer: Sealer;
  /** Ends the sessions in which an account without a factor acts for organizations that require one. */
  readonly endActingWithoutFactor: (trx: Transaction, userId: string) => Promise<void>;
  readonly passkeyChallenges: PasskeyChallenges;
  readonly relyingParty: RelyingParty;
}

/**
 * Changes the factors of an account in one transaction, one change at a time. Throws `invalid_token` if the account is
 * gone.
 */
export const changeFactors = <T>(
  deps: FactorsDeps,
  userId: string,
  change: (trx: Transaction, account: AccountRecord) => Promise<T>,
): Promise<T> =>
  deps.transact(async (trx) => {
    const locked = await lockAccount(trx, userId);
    if (locked === undefined) throw new AppError('invalid_token');
    return await change(trx, locked.account);
  });

/**
 * Records that factors of a locked account were deleted. Without the last one, the recovery codes end too. Returns true if
 * it was the last one.
 */
export const settleFactors = async (trx: Transaction, userId: string): Promise<boolean> => {
  const left = await listFactorsOfUser(trx, userId);
  if (left.length > 0) return false;
  await deleteRecoveryCodesOfUser(trx, userId);
  await updateCredentials(trx, userId, { hasSecondFactor: false });
  return true;
};

/** Mails the owner that their second factors have changed, once the transaction commits. */
export const notifyOwner = async (
  deps: MailOutboxDeps,
  trx: Transaction,
  { account, ...data }: { account: AccountRecord } & MailData['factor_changed'],
): Promise<void> => {
  const { id: userId, email: to, locale } = account;
  await enqueueMail(deps, trx, { kind: 'factor_changed', userId, to, locale, data });
};

interface EndedFactors {
  /** A locked account. */
  readonly account: AccountRecord;
  /** Without it, every factor ends; else those added since. */
  readonly since: Date | undefined;
}

/**
 * Deletes the second factors and recovery codes of an account, and mails the owner if there was a factor. Returns the
 * number of deleted factors.
 */
export const endFactors = async (
  deps: Pick<FactorsDeps, 'mailSealer' | 'clock' | 'newId'>,
  trx: Transaction,
  { account, since }: EndedFactors,
): Promise<number> => {
  const totps = await deleteTotpsOfUser(trx, account.id, since);
  const passkeys = await deletePasskeysOfUser(trx, account.id, since);
  await deleteRecoveryCodesOfUser(trx, account.id, since);
  await settleFactors(trx, account.id);
  const ended = totps + passkeys;
  if (ended > 0) await notifyOwner(deps, trx, { account, change: 'reset', name: '' });
  return ended;
};

/**
 * Deletes every factor and recovery code of an account whose owner has lost them, and mails the owner. Returns the
 * number of deleted factors; undefined if there is no such account.
 */
export const resetFactors = (
  deps: Pick<FactorsDeps, 'transact' | 'endActingWithoutFactor' | 'mailSealer' | 'clock' | 'newId'>,
  userId: string,
): Promise<number | undefined> =>
  deps.transact(async (trx) => {
    const account = (await lockAccount(trx, userId))?.account;
    if (account === undefined) return undefined;
    const ended = await endFactors(deps, trx, { account, since: undefined });
    await deps.endActingWithoutFactor(trx, userId);
    return ended;
  });

/** Codes of one set. */
const RECOVERY_CODES = 10;

/** Replaces the recovery codes. Returns the new ones, of which only digests are stored. */
export const makeRecoveryCodes = async (
  deps: Pick<FactorsDeps, 'clock'>,
  trx: Transaction,
  userId: string,
): Promise<string[]> => {
  const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
  const digests = codes.map((code) => recoveryCodeDigest(userId, code));
  await replaceRecoveryCodes(trx, userId, { digests, createdAt: deps.clock() });
  return codes;
};

/** Excludes letters that are easily confused. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
/** 120 bits, so that a plain digest withstands guessing (NIST SP 800-63B-4 section 3.1.2.2 requires 112). */
const CHARACTERS = 24;
const GROUP = /.{6}(?=.)/g;

/** Returns a random code in groups that are easy to type. */
const newRecoveryCode = (): string => {
  const characters = [...randomBytes(CHARACTERS)].map((byte) => ALPHABET.charAt(byte % ALPHABET.length)).join('');
  return characters.replaceAll(GROUP, '$&-');
};

/** Returns the stored digest of a code. Ignores case, spaces, dashes and look-alike letters. */
export const recoveryCodeDigest = (userId: string, code: string): Buffer => {
  const typed = code.toLowerCase().replaceAll(/[\s-]/g, '').replaceAll('o', '0').replaceAll(/[il]/g, '1');
  return hash('sha256', `recovery-code:${userId}:${typed}`, 'buffer');
};
