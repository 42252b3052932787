import { AppError } from '@svc/service-kit';
import { changeFactors, makeRecoveryCodes } from './change-factors.ts';
import type { FactorsDeps } from './factors-deps.ts';
import { notifyOwner } from './notify-owner.ts';

/** Replaces the recovery codes of an account. Throws `second_factor_missing`. */
export const renewRecoveryCodes = (deps: FactorsDeps, userId: string): Promise<string[]> =>
  changeFactors(deps, userId, async (trx, account) => {
    if (!account.hasSecondFactor) throw new AppError('second_factor_missing');
    await notifyOwner(deps, trx, { account, change: 'recovery_codes_renewed', name: '' });
    return await makeRecoveryCodes(deps, trx, userId);
  });
