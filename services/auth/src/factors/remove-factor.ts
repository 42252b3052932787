import { AppError } from '@svc/service-kit';
import { changeFactors, settleFactors } from './change-factors.ts';
import type { FactorsDeps } from './factors-deps.ts';
import { notifyOwner } from './notify-owner.ts';
import { deleteFactorById } from './queries.ts';

/** Deletes a factor, and with the last one the recovery codes. Throws `not_found`. */
export const removeFactor = (deps: FactorsDeps, { userId, id }: { userId: string; id: string }): Promise<void> =>
  changeFactors(deps, userId, async (trx, account) => {
    const removed = await deleteFactorById(trx, { id, userId });
    if (removed === undefined) throw new AppError('not_found');
    if (!removed.isInUse) return;
    if (await settleFactors(trx, userId)) await deps.endActingWithoutFactor(trx, userId);
    await notifyOwner(deps, trx, { account, change: 'removed', name: removed.name });
  });
