import { AppError } from '@svc/service-kit';
import { findAccountById } from '../accounts/index.ts';
import { enqueueMail, type MailOutboxDeps } from '../mail/index.ts';
import { type AppRecord, isOwned } from './app.ts';
import { endAccessOfApp } from './end-access-of-app.ts';
import { lockApp } from './queries.ts';
import { storeApp, type UpdateAppDeps } from './update-app.ts';

export type SuspendAppDeps = UpdateAppDeps & MailOutboxDeps;

/** Deactivates an app, allows only an operator to lift that, and mails the owner. Throws `not_found`. Idempotent. */
export const suspendApp = async (deps: SuspendAppDeps, clientId: string): Promise<AppRecord> => {
  const suspended = await deps.transact(async (trx) => {
    const before = await lockApp(trx, clientId);
    if (before === undefined) throw new AppError('not_found');
    if (before.suspendedAt !== null) return before;
    const now = deps.clock();
    if (before.active) await endAccessOfApp(deps, trx, { clientId, now });
    const owner = isOwned(before) ? await findAccountById(trx, before.ownerUserId) : undefined;
    if (owner !== undefined) {
      const { id: userId, email: to, locale } = owner;
      await enqueueMail(deps, trx, { kind: 'app_suspended', userId, to, locale, data: { appName: before.name } });
    }
    const after = { ...before, active: false, suspendedAt: now, updatedAt: now };
    return await storeApp(trx, after, before.active ? ['suspended'] : []);
  });
  deps.wakeSuspensions();
  return suspended;
};

/**
 * Lifts a suspension. The app stays inactive until its owner activates it, except for one without an owner. Throws
 * `not_found`.
 */
export const resumeApp = (deps: Pick<UpdateAppDeps, 'transact' | 'clock'>, clientId: string): Promise<AppRecord> =>
  deps.transact(async (trx) => {
    const before = await lockApp(trx, clientId);
    if (before === undefined) throw new AppError('not_found');
    if (before.suspendedAt === null) return before;
    return await storeApp(trx, { ...before, active: !isOwned(before), suspendedAt: null, updatedAt: deps.clock() }, []);
  });
