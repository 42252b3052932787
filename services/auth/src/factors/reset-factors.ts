import { type AccountRecord, lockAccount } from '../accounts/index.ts';
import type { Transaction } from '../transact.ts';
import { settleFactors } from './change-factors.ts';
import type { FactorsDeps } from './factors-deps.ts';
import { notifyOwner } from './notify-owner.ts';
import { deletePasskeysOfUser } from './passkey-queries.ts';
import { deleteRecoveryCodesOfUser, deleteTotpsOfUser } from './queries.ts';

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
