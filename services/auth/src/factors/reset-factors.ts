import { lockAccount } from '../accounts/index.ts';
import { removeAllFactors } from './change-factors.ts';
import type { FactorsDeps } from './factors-deps.ts';
import { notifyOwner } from './notify-owner.ts';
import { listFactorsOfUser } from './queries.ts';

/**
 * Deletes every factor and recovery code of an account whose owner has lost them, and mails the owner. Returns the
 * number of deleted factors; undefined if there is no such account.
 */
export const resetFactors = (
  deps: Pick<FactorsDeps, 'transact' | 'mailKey' | 'clock' | 'newId'>,
  userId: string,
): Promise<number | undefined> =>
  deps.transact(async (trx) => {
    const account = (await lockAccount(trx, userId))?.account;
    if (account === undefined) return undefined;
    const factors = await listFactorsOfUser(trx, userId);
    await removeAllFactors(trx, userId);
    if (factors.length > 0) await notifyOwner(deps, trx, { account, change: 'reset', name: '' });
    return factors.length;
  });
