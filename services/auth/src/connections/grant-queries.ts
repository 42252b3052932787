import { idTimeAt } from '@svc/contracts';
import { camelKeys, type SnakeKeys, snakeKeys } from '@svc/database';
import type { Executor, Transaction } from '../transact.ts';
import type { GrantRecord } from './connection.ts';

/** JSON returned by `grantJson`; `camelKeys` maps it. */
export type GrantJson = SnakeKeys<GrantRecord>;

/** Columns of a record; the row has more. */
const COLUMNS = Object.keys({
  id: true,
  user_id: true,
  client_id: true,
  scope: true,
  device_name: true,
} satisfies Record<keyof GrantJson, true>);

const NOT_CUT_OFF = `NOT EXISTS (
  SELECT FROM app_cutoffs k WHERE k.client_id = grants.client_id AND k.revoked_through >= grants.id
)`;

/** Stores a new grant. */
export const insertGrant = async (
  trx: Transaction,
  grant: GrantRecord,
  times: { createdAt: Date; expiresAt: Date },
): Promise<void> => {
  await trx('grants').insert(snakeKeys({ ...grant, ...times }));
};

/** Finds a grant that has not ended. */
export const findGrant = async (executor: Executor, id: string): Promise<GrantRecord | undefined> => {
  const row = await executor('grants').where({ id }).whereRaw(NOT_CUT_OFF).first<GrantJson | undefined>(COLUMNS);
  return row === undefined ? undefined : camelKeys(row);
};

/**
 * Returns SQL that selects a grant as one JSON value, so that a statement can read it together with other data. Null if
 * the grant has ended.
 */
export const grantJson = (id: string): string => `(
  SELECT json_build_object(${COLUMNS.map((name) => `'${name}', grants.${name}`).join(', ')})
  FROM grants WHERE grants.id = ${id} AND ${NOT_CUT_OFF}
)`;

/**
 * Deletes all grants of one connection, or those named, with their codes and refresh tokens. Locks them in the order of
 * their ids.
 */
export const deleteGrants = async (
  trx: Transaction,
  key: { userId: string; clientId: string; ids?: readonly string[] },
): Promise<{ id: string; lastUsedAt: Date | null }[]> => {
  const chosen = trx('grants').where({ user_id: key.userId, client_id: key.clientId }).orderBy('id').forUpdate();
  if (key.ids !== undefined) chosen.whereIn('id', key.ids);
  const ids = await chosen.pluck('id');
  const rows = await trx('grants')
    .whereIn('id', ids)
    .delete()
    .returning<{ id: string; last_used_at: Date | null }[]>(['id', 'last_used_at']);
  return rows.map((row) => ({ id: row.id, lastUsedAt: row.last_used_at }));
};

/** Deletes every grant of a user and returns their ids. Locks them by id, as token exchanges do. */
export const deleteGrantsOfUser = async (trx: Transaction, userId: string): Promise<string[]> => {
  const result: { rows: { id: string }[] } = await trx.raw(
    `WITH chosen AS (SELECT id FROM grants WHERE user_id = ? ORDER BY id FOR UPDATE)
     DELETE FROM grants g USING chosen WHERE g.id = chosen.id RETURNING g.id`,
    [userId],
  );
  return result.rows.map(({ id }) => id);
};

/** Lists the grants of a user, oldest first. */
export const listGrantsOfUser = async (
  trx: Transaction,
  userId: string,
): Promise<(GrantRecord & { readonly createdAt: Date })[]> => {
  const rows = await trx('grants')
    .where({ user_id: userId })
    .orderBy('id')
    .select<(GrantJson & { readonly created_at: Date })[]>([...COLUMNS, 'created_at']);
  return rows.map((row) => camelKeys(row));
};

/** Lists the grants of a connection, newest first. */
export const listGrantsOfConnection = async (
  executor: Executor,
  key: { userId: string; clientId: string },
): Promise<(GrantRecord & { readonly createdAt: Date; readonly lastUsedAt: Date | null })[]> => {
  const rows = await executor('grants')
    .where({ user_id: key.userId, client_id: key.clientId })
    .whereRaw(NOT_CUT_OFF)
    .orderBy('id', 'desc')
    .select<(GrantJson & { readonly created_at: Date; readonly last_used_at: Date | null })[]>([
      ...COLUMNS,
      'created_at',
      'last_used_at',
    ]);
  return rows.map((row) => camelKeys(row));
};

/** Lists the ids of a connection's grants beyond the newest `keep`. */
export const listOldestGrantIds = async (
  trx: Transaction,
  key: { userId: string; clientId: string; keep: number },
): Promise<string[]> => {
  const rows = await trx<GrantJson>('grants')
    .where({ user_id: key.userId, client_id: key.clientId })
    .orderBy('id', 'desc')
    .offset(key.keep)
    .select('id');
  return rows.map((row) => row.id);
};

/** Deletes the grants of these users that a suspension of the app covers. Locks them in the order of their ids. */
export const deleteCutOffGrants = async (
  trx: Transaction,
  input: { clientId: string; cutoff: string; userIds: readonly string[] },
): Promise<void> => {
  await trx.raw(
    `WITH chosen AS (
       SELECT id FROM grants WHERE client_id = :clientId AND id <= :cutoff AND user_id = ANY(:userIds) ORDER BY id FOR UPDATE
     )
     DELETE FROM grants g USING chosen WHERE g.id = chosen.id`,
    input,
  );
};

/** Deletes at most `limit` grants unused for long; their connections keep the last use. Returns the number. */
export const deleteGrantsExpiredBefore = async (executor: Executor, before: Date, limit: number): Promise<number> => {
  const result: { rows: { count: number }[] } = await executor.raw(
    `WITH chosen AS (SELECT id FROM grants WHERE expires_at < :before LIMIT :limit FOR UPDATE SKIP LOCKED),
     gone AS (DELETE FROM grants g USING chosen WHERE g.id = chosen.id RETURNING g.user_id, g.client_id, g.last_used_at),
     latest AS (SELECT user_id, client_id, max(last_used_at) AS last_used_at FROM gone GROUP BY 1, 2),
     remembered AS (
       UPDATE connections c SET last_used_at = greatest(c.last_used_at, latest.last_used_at)
       FROM latest WHERE c.user_id = latest.user_id AND c.client_id = latest.client_id
     )
     SELECT count(*) AS count FROM gone`,
    { before, limit },
  );
  return result.rows[0]?.count ?? 0;
};

/** Finds the grant id up to which the last suspension of an app has disconnected its users. */
export const findCutoff = async (executor: Executor, clientId: string): Promise<string | undefined> => {
  const row = await executor<{ client_id: string; revoked_through: string }>('app_cutoffs')
    .where({ client_id: clientId })
    .first('revoked_through');
  return row?.revoked_through;
};

/** Raises the cutoff to an id not smaller than that of any grant of the app, and returns it. */
export const raiseCutoff = async (trx: Transaction, clientId: string, newestId: string): Promise<string> => {
  const result: { rows: { revoked_through: string }[] } = await trx.raw(
    `INSERT INTO app_cutoffs AS k (client_id, revoked_through)
     SELECT :clientId, greatest(CAST(:newestId AS text), max(id)) FROM grants WHERE client_id = :clientId
     ON CONFLICT (client_id) DO UPDATE SET revoked_through = greatest(k.revoked_through, excluded.revoked_through)
     RETURNING revoked_through`,
    { clientId, newestId },
  );
  const [row] = result.rows;
  if (row === undefined) throw new Error('an upsert answered no row');
  return row.revoked_through;
};

/** Deletes the cutoff of a deleted app. */
export const deleteCutoff = async (trx: Transaction, clientId: string): Promise<void> => {
  await trx('app_cutoffs').where({ client_id: clientId }).delete();
};

/** Returns the id of the first grant that began after a moment. Ids sort by time. */
export const findGrantIdAfter = async (executor: Executor, after: Date): Promise<string | undefined> => {
  const row: { id: string } | undefined = await executor('grants')
    .where('id', '>', `grt_${idTimeAt(after.getTime())}`)
    .orderBy('id')
    .first('id');
  return row?.id;
};
