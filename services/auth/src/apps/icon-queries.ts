import type { Executor, Transaction } from '../transact.ts';
import type { Icon, IconType } from './icon.ts';

/** The stored icon of an app. */
export const findIcon = async (executor: Executor, clientId: string): Promise<Icon | undefined> => {
  const row = await executor<{ client_id: string; content_type: IconType; bytes: Buffer }>('app_icons')
    .where({ client_id: clientId })
    .first('content_type', 'bytes');
  return row === undefined ? undefined : { contentType: row.content_type, bytes: row.bytes };
};

/** Stores or replaces the icon of an app. */
export const upsertIcon = async (
  trx: Transaction,
  icon: { clientId: string; contentType: IconType; bytes: Buffer; now: Date },
): Promise<void> => {
  await trx('app_icons')
    .insert({ client_id: icon.clientId, content_type: icon.contentType, bytes: icon.bytes, updated_at: icon.now })
    .onConflict('client_id')
    .merge();
};
