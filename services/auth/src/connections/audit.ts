import type { ConnectionAuditEntry, newId } from '@svc/contracts';
import { camelKeys, type SnakeKeys, snakeKeys } from '@svc/database';
import { coarseNetwork } from '../network-address.ts';
import type { Executor, Transaction } from '../transact.ts';

/** An audited action on a connection. */
export type ConnectionAction = ConnectionAuditEntry['action'];

/** Coarse origin of a request. */
export interface Origin {
  readonly network: string | null;
  readonly clientKind: ConnectionAuditEntry['client_kind'];
}

/** An entry of a user's audit trail, as stored. */
export interface AuditRecord extends Origin {
  readonly id: string;
  readonly userId: string;
  readonly clientId: string;
  readonly action: ConnectionAction;
  readonly scope: string | null;
  readonly happenedAt: Date;
}

/** Returns the origin of a request from this address. */
export const originOf = (clientAddress: string, clientKind: Origin['clientKind']): Origin => ({
  network: coarseNetwork(clientAddress),
  clientKind,
});

/** Origin of the product's own actions. */
export const OWN_ORIGIN: Origin = { network: null, clientKind: 'service' };

/** Creates an entry. Ids sort by time, which is the order of the trail. */
export const auditRecord = (
  deps: { newId: typeof newId },
  key: { userId: string; clientId: string },
  what: { action: ConnectionAction; scope?: string; origin: Origin; now: Date },
): AuditRecord => ({
  id: deps.newId('aud', what.now.getTime()),
  userId: key.userId,
  clientId: key.clientId,
  action: what.action,
  scope: what.scope ?? null,
  ...what.origin,
  happenedAt: what.now,
});

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
