import type { Locale } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import { changeFactors } from './change-factors.ts';
import type { FactorsDeps } from './factors-deps.ts';
import { deleteUnconfirmedTotpsOfUser, FACTORS_MAX, insertTotp, listFactorsOfUser } from './queries.ts';
import { describeTotp, newTotpSecret } from './totp.ts';

const DEFAULT_NAMES: Readonly<Record<Locale, string>> = { en: 'Authenticator app', it: 'App di autenticazione' };

/**
 * Adds a TOTP factor, which must be confirmed before it is used. Replaces an earlier unconfirmed one. Throws
 * `factor_limit_reached`.
 */
export const addTotp = (
  deps: FactorsDeps,
  userId: string,
  name: string | undefined,
): Promise<{ id: string; secret: string; url: string }> =>
  changeFactors(deps, userId, async (trx, account) => {
    await deleteUnconfirmedTotpsOfUser(trx, userId);
    const factors = await listFactorsOfUser(trx, userId);
    if (factors.length >= FACTORS_MAX) throw new AppError('factor_limit_reached');
    const createdAt = deps.clock();
    const id = deps.newId('fac', createdAt.getTime());
    const secret = newTotpSecret();
    await insertTotp(trx, {
      id,
      userId,
      name: name ?? DEFAULT_NAMES[account.locale],
      sealedSecret: deps.totpSealer.seal(secret, id),
      createdAt,
      confirmedAt: null,
      lastStep: null,
      lastUsedAt: null,
    });
    return { id, ...describeTotp(secret, account.email) };
  });
