import type { Executor, Transaction } from '../transact.ts';
import type { AuditRecord } from './audit.ts';

interface Row {
  id: string;
  user_id: string;
  client_id: string;
  action: AuditRecord['action'];
  scope: string | null;
  network: string | null;
  client_kind: AuditRecord['clientKind'];
  happened_at: Date;
}

/** Stores entries of audit trails. */
export const insertAuditEntries = async (trx: Transaction, entries: readonly AuditRecord[]): Promise<void> => {
  if (entries.length === 0) return;
  await trx('connection_audit').insert(
    entries.map((entry) => ({
      id: entry.id,
      user_id: entry.userId,
      client_id: entry.clientId,
      action: entry.action,
      scope: entry.scope,
      network: entry.network,
      client_kind: entry.clientKind,
      happened_at: entry.happenedAt,
    })),
  );
};

/** At most `limit` entries about a user and an app, newest first, after the entry of an id. */
export const listAuditEntries = async (
  executor: Executor,
  page: { userId: string; clientId: string; limit: number; after: string | undefined },
): Promise<AuditRecord[]> => {
  const query = executor<Row>('connection_audit')
    .where({ user_id: page.userId, client_id: page.clientId })
    .orderBy('id', 'desc')
    .limit(page.limit);
  if (page.after !== undefined) query.where('id', '<', page.after);
  const rows = await query;
  return rows.map((row) => ({
    id: row.id,
    userId: row.user_id,
    clientId: row.client_id,
    action: row.action,
    scope: row.scope,
    network: row.network,
    clientKind: row.client_kind,
    happenedAt: row.happened_at,
  }));
};

/** Removes at most `limit` entries older than an instant, and answers how many. */
export const deleteAuditEntriesBefore = async (executor: Executor, before: Date, limit: number): Promise<number> =>
  await executor('connection_audit')
    .whereIn('id', executor('connection_audit').where('happened_at', '<', before).limit(limit).select('id'))
    .delete();
