import { AppError } from '@svc/service-kit';
import { type AccountRecord, lockAccount, updateCredentials } from '../accounts/index.ts';
import type { Transaction } from '../transact.ts';
import type { FactorsDeps } from './factors-deps.ts';
import { deleteFactorsOfUser, replaceRecoveryCodes } from './queries.ts';
import { newRecoveryCode, RECOVERY_CODES, recoveryCodeDigest } from './recovery-code.ts';

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

/** Replaces the recovery codes. Returns the new ones, of which only digests are stored. */
export const makeRecoveryCodes = async (trx: Transaction, userId: string): Promise<string[]> => {
  const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
  await replaceRecoveryCodes(
    trx,
    userId,
    codes.map((code) => recoveryCodeDigest(userId, code)),
  );
  return codes;
};

/** Deletes every factor and recovery code of a locked account. */
export const removeAllFactors = async (trx: Transaction, userId: string): Promise<void> => {
  await deleteFactorsOfUser(trx, userId);
  await replaceRecoveryCodes(trx, userId, []);
  await updateCredentials(trx, userId, { hasSecondFactor: false });
};
