import type { newId } from '@svc/contracts';
import type { Transaction } from '../transact.ts';
import { deleteLockedApp } from './delete-app.ts';
import { endAccessOfApp } from './end-access-of-app.ts';
import { countAppRowsOfOwner, lockAppsOfOwner } from './queries.ts';
import { deleteSecrets } from './secret-queries.ts';
import { storeApp } from './update-app.ts';

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
