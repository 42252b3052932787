import { hash } from 'node:crypto';
import { camelKeys, recordAct, snakeKeys } from '@svc/database';
import { type Act, AppError, type Clock, invalidField } from '@svc/service-kit';
import type { Executor, Transact, Transaction } from '../transact.ts';
import { findAppById, lockAppOfOwner } from './app-record.ts';

/** Image types that can be stored. SVG is excluded because it can contain scripts. */
type IconType = 'image/png' | 'image/jpeg' | 'image/webp';

/** An icon to show. */
export interface Icon {
  readonly contentType: IconType | 'image/svg+xml';
  readonly bytes: Buffer;
}

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const JPEG = Buffer.from([0xff, 0xd8, 0xff]);

/** Detects the type of an image by its first bytes, ignoring its name. Returns undefined for other types. */
const sniffIconType = (bytes: Buffer): IconType | undefined => {
  if (bytes.subarray(0, PNG.length).equals(PNG)) return 'image/png';
  if (bytes.subarray(0, JPEG.length).equals(JPEG)) return 'image/jpeg';
  const isRiff = bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP';
  return isRiff ? 'image/webp' : undefined;
};

const HUES = 360;

/** Draws the initial of an app's name on a color derived from its id. */
export const drawMonogram = (clientId: string, name: string): Icon => {
  const hue = hash('sha256', clientId, 'buffer').readUInt16BE() % HUES;
  // Restricted to letters and digits: other characters could end the text or the document.
  const initial = /[\p{L}\p{N}]/u.exec(name)?.[0].toUpperCase() ?? '#';
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" width="64" height="64">` +
    `<rect width="64" height="64" rx="14" fill="hsl(${hue} 55% 38%)"/>` +
    `<text x="32" y="43" text-anchor="middle" font-family="system-ui,sans-serif" font-size="32" font-weight="600" fill="#fff">${initial}</text>` +
    `</svg>`;
  return { contentType: 'image/svg+xml', bytes: Buffer.from(svg) };
};

/** Finds the stored icon of an app. */
const findIcon = async (executor: Executor, clientId: string): Promise<Icon | undefined> => {
  const row = await executor('app_icons')
    .where({ client_id: clientId })
    .first<{ content_type: IconType; bytes: Buffer } | undefined>('content_type', 'bytes');
  return row === undefined ? undefined : camelKeys(row);
};

/** Stores or replaces the icon of an app. */
const upsertIcon = async (
  trx: Transaction,
  icon: { clientId: string; contentType: IconType; bytes: Buffer; updatedAt: Date },
): Promise<void> => {
  await trx('app_icons').insert(snakeKeys(icon)).onConflict('client_id').merge();
};

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
