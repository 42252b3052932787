import { runPrepared } from '@svc/database';
import type { Knex } from 'knex';
import { sqlColumn } from '../sql-array.ts';
import type { Connection, ConnectionKey } from './connection.ts';

const LOCK_USERS = {
  name: 'lock_users',
  text: `SELECT pg_advisory_xact_lock(key) FROM (
      SELECT DISTINCT hashtextextended(user_id, 0) AS key FROM unnest($1::text[]) AS given (user_id) ORDER BY key
    ) AS keys`,
};
const UPSERT_CONNECTIONS = {
  name: 'upsert_connections',
  text: `INSERT INTO connections (svc_user_id, client_id, is_connected, scope, connected_at, told_revision)
    SELECT * FROM unnest($1::text[], $2::text[], $3::boolean[], $4::text[], $5::timestamptz[], $6::int[])
    ON CONFLICT (svc_user_id, client_id) DO UPDATE SET
      is_connected = excluded.is_connected, scope = excluded.scope, connected_at = excluded.connected_at,
      told_revision = excluded.told_revision`,
};

/**
 * Until `trx` ends, nobody else changes who is told of these users' subscriptions. Without it, a subscription that changes
 * while a connection is being made could be missed: the fact would not see the connection, the snapshot not the change.
 */
export const lockUsers = async (trx: Knex.Transaction, userIds: readonly string[]): Promise<void> => {
  await runPrepared(trx, LOCK_USERS, [userIds]);
};

/** Inserts connections, or replaces what is known of them. Each may be given once. */
export const upsertConnections = async (trx: Knex.Transaction, connections: readonly Connection[]): Promise<void> => {
  const sorted = [...connections].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  await runPrepared(trx, UPSERT_CONNECTIONS, [
    sorted.map(({ userId }) => userId),
    sorted.map(({ clientId }) => clientId),
    sorted.map(({ isConnected }) => isConnected),
    sorted.map(({ scope }) => scope),
    sorted.map(({ connectedAt }) => connectedAt),
    sorted.map(({ toldRevision }) => toldRevision),
  ]);
};

/** Marks connections as ended. */
export const updateConnectionsEnded = async (trx: Knex.Transaction, keys: readonly ConnectionKey[]): Promise<void> => {
  await trx.raw(
    `UPDATE connections SET is_connected = false
     FROM unnest(?::text[], ?::text[]) AS given (svc_user_id, client_id)
     WHERE connections.svc_user_id = given.svc_user_id AND connections.client_id = given.client_id`,
    [sqlColumn(keys, ({ userId }) => userId), sqlColumn(keys, ({ clientId }) => clientId)],
  );
};

/** Notes that the user's connected apps are told this revision; answers those that were not yet told it, or a newer one. */
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

/** Forgets everybody's connection to an app. */
export const deleteConnectionsOfApp = async (trx: Knex.Transaction, clientId: string): Promise<void> => {
  await trx('connections').where({ client_id: clientId }).delete();
};

const keyOf = ({ userId, clientId }: ConnectionKey): string => {
  return `${userId} ${clientId}`;
};
