import { AppError } from '@svc/service-kit';
import { type AccountRecord, lockAccount, updateCredentials } from '../accounts/index.ts';
import type { Transaction } from '../transact.ts';
import type { FactorsDeps } from './factors-deps.ts';
import { deleteRecoveryCodesOfUser, listFactorsOfUser, replaceRecoveryCodes } from './queries.ts';
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
