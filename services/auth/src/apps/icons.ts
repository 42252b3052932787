import { recordAct } from '@svc/database';
import { type Act, AppError, type Clock, invalidField } from '@svc/service-kit';
import type { Executor, Transact } from '../transact.ts';
import { drawMonogram, type Icon, sniffIconType } from './icon.ts';
import { findIcon, upsertIcon } from './icon-queries.ts';
import { findAppById, lockAppOfOwner } from './queries.ts';

/** Returns the icon of an app, or a monogram if it has none. Throws `not_found`. */
export const getIcon = async (deps: { database: Executor }, clientId: string): Promise<Icon> => {
  const app = await findAppById(deps.database, clientId);
  if (app === undefined) throw new AppError('not_found');
  return (await findIcon(deps.database, clientId)) ?? drawMonogram(clientId, app.name);
};

/** Stores the icon of an app. Throws `not_found`, 422 for an empty body, and `unsupported_media_type`. */
export const putIcon = async (
  deps: { transact: Transact; clock: Clock },
  key: { clientId: string; ownerUserId: string },
  { bytes, act }: { bytes: Buffer; act: Act },
): Promise<void> => {
  if (bytes.length === 0) throw invalidField(['body'], 'missing', 'Field required');
  const contentType = sniffIconType(bytes);
  if (contentType === undefined) throw new AppError('unsupported_media_type', 'An icon is a PNG, JPEG or WebP image.');
  await deps.transact(async (trx) => {
    const app = await lockAppOfOwner(trx, key);
    if (app === undefined) throw new AppError('not_found');
    await recordAct(trx, act, { type: 'app', id: app.clientId, name: app.name });
    await upsertIcon(trx, { clientId: key.clientId, contentType, bytes, updatedAt: deps.clock() });
  });
};
