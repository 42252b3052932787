import { AppError } from '@svc/service-kit';
import { updateCredentials } from '../accounts/index.ts';
import { HOUR_MS, later } from '../time.ts';
import { changeFactors, makeRecoveryCodes } from './change-factors.ts';
import type { FactorsDeps } from './factors-deps.ts';
import { notifyOwner } from './notify-owner.ts';
import { confirmTotpById, findUnconfirmedTotp } from './queries.ts';
import { findTotpStep } from './totp.ts';

/** A factor that is not confirmed within this time must be added again. */
export const UNCONFIRMED_MS = HOUR_MS;

/**
 * Activates a TOTP factor with one of its codes, which is used up. Returns new recovery codes. Throws `not_found` and
 * `wrong_code`.
 */
export const confirmTotp = (
  deps: FactorsDeps,
  { userId, id, code }: { userId: string; id: string; code: string },
): Promise<string[]> =>
  changeFactors(deps, userId, async (trx, account) => {
    const now = deps.clock();
    const totp = await findUnconfirmedTotp(trx, { id, userId, since: later(now, -UNCONFIRMED_MS) });
    if (totp === undefined) throw new AppError('not_found');
    const step = findTotpStep(deps.totpSealer.unseal(totp.sealedSecret, id), code, now);
    if (step === undefined) throw new AppError('wrong_code');
    await confirmTotpById(trx, id, { step, now });
    await updateCredentials(trx, userId, { hasSecondFactor: true });
    await notifyOwner(deps, trx, { account, change: 'added', name: totp.name });
    return await makeRecoveryCodes(deps, trx, userId);
  });
