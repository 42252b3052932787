import type { updateAccountRequestSchema } from '@svc/contracts';
import { AppError, type Clock, invalidField } from '@svc/service-kit';
import type { z } from 'zod';
import { type AccountRecord, lockAccount, updateProfile } from '../accounts/index.ts';
import { findSessionById, type RenewedSession, renewSession, type SessionTokenDeps } from '../sessions/index.ts';
import type { Executor, Transact } from '../transact.ts';

export interface ChangeProfileDeps extends SessionTokenDeps {
  readonly database: Executor;
  readonly transact: Transact;
  readonly clock: Clock;
}

/** Changes the profile. Throws 422 if a personal account is given a business name. */
export const changeProfile = async (
  deps: Pick<ChangeProfileDeps, 'transact'>,
  userId: string,
  body: z.output<typeof updateAccountRequestSchema>,
): Promise<AccountRecord> => {
  const { business_name: businessName, display_name: displayName, locale } = body;
  const change = {
    ...(businessName === undefined ? {} : { businessName }),
    ...(displayName === undefined ? {} : { displayName }),
    ...(locale === undefined ? {} : { locale }),
  };
  return await deps.transact(async (trx) => {
    const locked = await lockAccount(trx, userId);
    if (locked === undefined) throw new AppError('invalid_token');
    if (businessName !== undefined && locked.account.accountType !== 'business') {
      const message = 'Value error, only a business account has a business name';
      throw invalidField(['body', 'business_name'], 'value_error', message);
    }
    if (Object.keys(change).length > 0) await updateProfile(trx, userId, change);
    return { ...locked.account, ...change };
  });
};

/** Converts the account to a business and renews the caller's session, whose token names the account type. */
export const upgradeToBusiness = async (
  deps: ChangeProfileDeps,
  caller: { userId: string; sessionId: string },
  businessName: string,
): Promise<RenewedSession> => {
  const account = await deps.transact(async (trx) => {
    const locked = await lockAccount(trx, caller.userId);
    if (locked === undefined) throw new AppError('invalid_token');
    const change = { accountType: 'business', businessName } as const;
    await updateProfile(trx, caller.userId, change);
    return { ...locked.account, ...change };
  });
  const session = await findSessionById(deps.database, caller.sessionId);
  if (session === undefined) throw new AppError('invalid_token');
  return await renewSession(deps, session, account);
};
