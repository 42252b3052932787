import { recordColumns, runPrepared } from '@svc/database';
import type { Knex } from 'knex';

export interface ConnectionKey {
  readonly userId: string;
  readonly clientId: string;
}

/** A connection of a user to an app. An ended one is kept, so that a late fact does not make it anew. */
export interface Connection extends ConnectionKey {
  readonly isConnected: boolean;
  readonly scope: string;
  readonly connectedAt: Date;
  /** The newest revision of the user's subscription sent to this app. */
  readonly toldRevision: number;
}

const connectionColumns = recordColumns<Connection>({
  userId: 'svc_user_id text',
  clientId: 'client_id text',
  isConnected: 'is_connected boolean',
  scope: 'scope text',
  connectedAt: 'connected_at timestamptz',
  toldRevision: 'told_revision integer',
});
const keyColumns = recordColumns<ConnectionKey>({ userId: 'svc_user_id text', clientId: 'client_id text' });

const LOCK_USERS = {
  name: 'lock_users',
  text: `SELECT pg_advisory_xact_lock(key) FROM (
      SELECT DISTINCT hashtextextended(user_id, 0) AS key FROM unnest($1::text[]) AS given (user_id) ORDER BY key
    ) AS keys`,
};

/**
 * Locks these users until `trx` ends. Without the lock, a subscription that changes while a connection is being made could be
 * missed: its fact would not see the connection, and the snapshot not the change.
 */
export const lockUsers = async (trx: Knex.Transaction, userIds: readonly string[]): Promise<void> => {
  await runPrepared(trx, LOCK_USERS, [userIds]);
};

const UPSERT_CONNECTIONS = {
  name: 'upsert_connections',
  text: `INSERT INTO connections (${connectionColumns.names})
    SELECT * FROM ${connectionColumns.unnest('given')} ORDER BY svc_user_id, client_id
    ON CONFLICT (svc_user_id, client_id) DO UPDATE SET
      is_connected = excluded.is_connected, scope = excluded.scope, connected_at = excluded.connected_at,
      told_revision = excluded.told_revision`,
};

/** Inserts or replaces connections, of which each may be given once. */
export const upsertConnections = async (trx: Knex.Transaction, connections: readonly Connection[]): Promise<void> => {
  await runPrepared(trx, UPSERT_CONNECTIONS, connectionColumns.arrays(connections));
};

const END_CONNECTIONS = {
  name: 'end_connections',
  text: `UPDATE connections SET is_connected = false FROM ${keyColumns.unnest('given')}
    WHERE connections.svc_user_id = given.svc_user_id AND connections.client_id = given.client_id`,
};

export const updateConnectionsEnded = async (trx: Knex.Transaction, keys: readonly ConnectionKey[]): Promise<void> => {
  await runPrepared(trx, END_CONNECTIONS, keyColumns.arrays(keys));
};

/** Records that the user's connected apps are sent this revision, and returns those that had an older one. */
export const updateToldRevision = async (
  trx: Knex.Transaction,
  userId: string,
  revision: number,
): Promise<string[]> => {
  const { rows } = await trx.raw<{ rows: { client_id: string }[] }>(
    `UPDATE connections SET told_revision = :revision
     WHERE svc_user_id = :userId AND is_connected AND told_revision < :revision RETURNING client_id`,
    { userId, revision },
  );
  return rows.map((row) => row.client_id).sort();
};

/** Deletes up to `limit` connections to an app and returns their number. */
export const deleteConnectionsOfApp = async (
  trx: Knex.Transaction,
  clientId: string,
  limit: number,
): Promise<number> => {
  const chosen = trx('connections').where({ client_id: clientId }).orderBy('svc_user_id').limit(limit).forUpdate();
  return await trx('connections')
    .where({ client_id: clientId })
    .whereIn('svc_user_id', chosen.select('svc_user_id'))
    .delete();
};

/** Deletes the ended connections of a user. Returns the number of those that still stand. */
export const deleteEndedConnectionsOfUser = async (trx: Knex.Transaction, userId: string): Promise<number> => {
  await trx('connections').where({ svc_user_id: userId, is_connected: false }).delete();
  const row = await trx('connections').where({ svc_user_id: userId }).count<{ count: number }>({ count: '*' }).first();
  return Number(row?.count ?? 0);
};
