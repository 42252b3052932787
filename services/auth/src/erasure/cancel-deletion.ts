import { appendToOutbox } from '@svc/messaging';
import { AppError, type Clock } from '@svc/service-kit';
import { redeemMailedToken, updateErasure } from '../accounts/index.ts';
import { voidMailedTokens } from '../mailed-tokens/index.ts';
import type { Transact } from '../transact.ts';
import { nextDeletion } from './deletion-fact.ts';

/** Cancels the deletion of an account. Its apps stay deactivated. Throws `token_invalid`. */
export const cancelDeletion = async (
  deps: { readonly transact: Transact; readonly clock: Clock },
  token: string,
): Promise<void> => {
  await deps.transact(async (trx) => {
    const { account } = await redeemMailedToken(trx, { purpose: 'cancel_deletion', token, now: deps.clock() });
    if (account.eraseAt === null) throw new AppError('token_invalid');
    const fact = nextDeletion(account);
    await updateErasure(trx, account.id, { eraseAt: null, deletionVersion: fact.version });
    await voidMailedTokens(trx, account.id, { purposes: ['cancel_deletion'] });
    await appendToOutbox(trx, fact.cancelled);
  });
};
