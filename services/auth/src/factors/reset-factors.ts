import { lockAccount } from '../accounts/index.ts';
import { endFactors } from './end-factors.ts';
import type { FactorsDeps } from './factors-deps.ts';

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
