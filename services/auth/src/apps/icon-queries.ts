import { camelKeys, snakeKeys } from '../key-case.ts';
import type { Executor, Transaction } from '../transact.ts';
import type { Icon, IconType } from './icon.ts';

/** Finds the stored icon of an app. */
export const findIcon = async (executor: Executor, clientId: string): Promise<Icon | undefined> => {
  const row = await executor('app_icons')
    .where({ client_id: clientId })
    .first<{ content_type: IconType; bytes: Buffer } | undefined>('content_type', 'bytes');
  return row === undefined ? undefined : camelKeys(row);
};

/** Stores or replaces the icon of an app. */
export const upsertIcon = async (
  trx: Transaction,
  icon: { clientId: string; contentType: IconType; bytes: Buffer; updatedAt: Date },
): Promise<void> => {
  await trx('app_icons').insert(snakeKeys(icon)).onConflict('client_id').merge();
};
