import type { newId } from '@svc/contracts';
import { recordAct } from '@svc/database';
import { type Act, AppError } from '@svc/service-kit';
import type { Transaction } from '../transact.ts';
import { countAppRowsOfOwner, lockAppOfOwner, lockAppsOfOwner, markAppDeleted } from './app-record.ts';
import { deleteSecrets } from './client-secrets.ts';
import { endAccessOfApp } from './suspensions.ts';
import { storeApp, type UpdateAppDeps } from './update-app.ts';

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
const deleteLockedApp = async (
  deps: { newId: typeof newId },
  trx: Transaction,
  { clientId, now }: { clientId: string; now: Date },
): Promise<void> => {
  await markAppDeleted(trx, clientId, now);
  await deleteSecrets(trx, clientId);
  await endAccessOfApp(deps, trx, { clientId, now });
};

interface OwnersApps {
  readonly ownerUserId: string;
  readonly now: Date;
}

/** Deactivates every active app of an owner. Their connections end afterwards. */
export const suspendAppsOfOwner = async (
  deps: { newId: typeof newId },
  trx: Transaction,
  { ownerUserId, now }: OwnersApps,
): Promise<void> => {
  const apps = await lockAppsOfOwner(trx, ownerUserId);
  for (const app of apps.filter(({ active }) => active)) {
    await endAccessOfApp(deps, trx, { clientId: app.clientId, now });
    await storeApp(trx, { ...app, active: false, updatedAt: now }, ['suspended']);
  }
};

/** Ends every client secret of an owner's apps. The owner can make new ones by rotation. */
export const endSecretsOfOwner = async (trx: Transaction, ownerUserId: string): Promise<void> => {
  for (const { clientId } of await lockAppsOfOwner(trx, ownerUserId)) await deleteSecrets(trx, clientId);
};

/** Deletes every app of an owner. Returns false until all are gone with their connections. */
export const deleteAppsOfOwner = async (
  deps: { newId: typeof newId },
  trx: Transaction,
  { ownerUserId, now }: OwnersApps,
): Promise<boolean> => {
  for (const { clientId } of await lockAppsOfOwner(trx, ownerUserId))
    await deleteLockedApp(deps, trx, { clientId, now });
  return (await countAppRowsOfOwner(trx, ownerUserId)) === 0;
};
