import { camelKeys, type SnakeKeys, snakeKeys } from '../key-case.ts';
import type { Executor, Transaction } from '../transact.ts';
import type { AuditRecord } from './audit.ts';

/** Stores audit entries. */
export const insertAuditEntries = async (trx: Transaction, entries: readonly AuditRecord[]): Promise<void> => {
  if (entries.length > 0) await trx('connection_audit').insert(entries.map(snakeKeys));
};

/** Lists entries about a user and an app, newest first, after the entry `after`. */
export const listAuditEntries = async (
  executor: Executor,
  page: { userId: string; clientId: string; limit: number; after: string | undefined },
): Promise<AuditRecord[]> => {
  const query = executor<SnakeKeys<AuditRecord>>('connection_audit')
    .where({ user_id: page.userId, client_id: page.clientId })
    .orderBy('id', 'desc')
    .limit(page.limit);
  if (page.after !== undefined) query.where('id', '<', page.after);
  return (await query).map(camelKeys);
};

/** Deletes at most `limit` entries older than the given time. Returns the number. */
export const deleteAuditEntriesBefore = async (executor: Executor, before: Date, limit: number): Promise<number> =>
  await executor('connection_audit')
    .whereIn('id', executor('connection_audit').where('happened_at', '<', before).limit(limit).select('id'))
    .delete();
