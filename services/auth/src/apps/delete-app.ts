import type { newId } from '@svc/contracts';
import { recordAct } from '@svc/database';
import { type Act, AppError } from '@svc/service-kit';
import type { Transaction } from '../transact.ts';
import { endAccessOfApp } from './end-access-of-app.ts';
import { lockAppOfOwner, markAppDeleted } from './queries.ts';
import { deleteSecrets } from './secret-queries.ts';
import type { UpdateAppDeps } from './update-app.ts';

/**
 * Deletes an app, effective at the commit. Its connections end afterwards in batches, followed by the fact
 * `auth.app.deleted`. Throws `not_found`.
 */
export const deleteApp = async (
  deps: UpdateAppDeps,
  key: { clientId: string; ownerUserId: string },
  act: Act,
): Promise<void> => {
  await deps.transact(async (trx) => {
    const app = await lockAppOfOwner(trx, key);
    if (app === undefined) throw new AppError('not_found');
    await recordAct(trx, act, { type: 'app', id: app.clientId, name: app.name });
    await deleteLockedApp(deps, trx, { clientId: app.clientId, now: deps.clock() });
  });
  deps.wakeSuspensions();
};

/** Hides a locked app and schedules the end of its connections. */
export const deleteLockedApp = async (
  deps: { newId: typeof newId },
  trx: Transaction,
  { clientId, now }: { clientId: string; now: Date },
): Promise<void> => {
  await markAppDeleted(trx, clientId, now);
  await deleteSecrets(trx, clientId);
  await endAccessOfApp(deps, trx, { clientId, now });
};
