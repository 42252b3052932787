import { recordColumns } from '@svc/database';
import type { Knex } from 'knex';
import type { ApiKey } from './api-key.ts';

const COLUMNS = recordColumns<ApiKey>({
  id: 'id text',
  userId: 'svc_user_id text',
  name: 'name text',
  prefix: 'prefix text',
  expiresAt: 'expires_at timestamptz',
  requestsPerMinute: 'requests_per_minute integer',
  tokensPerMinute: 'tokens_per_minute integer',
  monthlyLimitMicros: 'monthly_limit_micros bigint',
  models: 'models text[]',
  active: 'active boolean',
  createdAt: 'created_at timestamptz',
  secretCreatedAt: 'secret_created_at timestamptz',
  lastUsedAt: 'last_used_at timestamptz',
  sessionId: 'session_id text',
  previousExpiresAt: 'previous_expires_at timestamptz',
  version: 'version integer',
});

/** Maximum difference between the clocks of two services. */
const CLOCK_SKEW_MS = 60_000;

/** Inserts a key, unless the account already has `keysMax` keys or the creating session has lost access. */
export const insertApiKey = async (
  trx: Knex.Transaction,
  { key, hash, keysMax }: { readonly key: ApiKey; readonly hash: Buffer; readonly keysMax: number },
): Promise<'inserted' | 'too_many' | 'session_ended'> => {
  await lockKeysOfAccount(trx, key.userId);
  const cutoff = await trx('key_cutoffs')
    .where({ svc_user_id: key.userId })
    .where('sessions_revoked_through', '>=', key.sessionId)
    .first();
  if (cutoff !== undefined) return 'session_ended';
  const { count } = (await trx('api_keys')
    .where({ svc_user_id: key.userId })
    .whereNull('deleted_at')
    .count<{ count: number | string }[]>()
    .first()) ?? { count: 0 };
  if (Number(count) >= keysMax) return 'too_many';
  await trx('api_keys').insert({ ...COLUMNS.toRow(key), hash });
  return 'inserted';
};

/** Serializes the creation of keys with `endKeysOfAccount` until the transaction ends. */
const lockKeysOfAccount = async (trx: Knex.Transaction, userId: string): Promise<void> => {
  await trx.raw('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', [`api_keys ${userId}`]);
};

/** The end of keys of an account. */
interface EndedKeys {
  readonly userId: string;
  /** Newest ended session. */
  readonly sessionsRevokedThrough: string;
  /** Undefined ends every key of the ended sessions, else only those created or rotated since. */
  readonly addedSince: Date | undefined;
  /** Time at which auth ended them. */
  readonly endedAt: Date;
  readonly at: Date;
}

/**
 * Deletes keys that a session up to `sessionsRevokedThrough` created, and prevents those sessions from creating more.
 * Returns the ids of the deleted keys.
 */
export const endKeysOfAccount = async (trx: Knex.Transaction, input: EndedKeys): Promise<string[]> => {
  const { userId, sessionsRevokedThrough, addedSince, at } = input;
  await lockKeysOfAccount(trx, userId);
  await trx.raw(
    `INSERT INTO key_cutoffs AS k (svc_user_id, sessions_revoked_through) VALUES (:userId, :sessionsRevokedThrough)
     ON CONFLICT (svc_user_id) DO UPDATE
     SET sessions_revoked_through = greatest(k.sessions_revoked_through, excluded.sessions_revoked_through)`,
    { userId, sessionsRevokedThrough },
  );
  // A rotation is not bound to a session, so one that came after the end is the owner's.
  const rotatedUntil = new Date(input.endedAt.getTime() + CLOCK_SKEW_MS);
  const { rows }: { rows: { id: string }[] } = await trx.raw(
    `UPDATE api_keys SET deleted_at = :at
     WHERE svc_user_id = :userId AND deleted_at IS NULL
       AND (session_id IS NULL OR session_id <= :sessionsRevokedThrough)
       AND (:addedSince::timestamptz IS NULL OR created_at >= :addedSince
         OR secret_created_at BETWEEN :addedSince AND :rotatedUntil)
     RETURNING id`,
    { userId, sessionsRevokedThrough, addedSince: addedSince ?? null, rotatedUntil, at },
  );
  return rows.map(({ id }) => id);
};

/** Lists the keys of an account that are not deleted, newest first. */
export const listApiKeysByUser = async (database: Knex, userId: string): Promise<ApiKey[]> =>
  await selectKeys(database).where({ svc_user_id: userId }).whereNull('deleted_at').orderBy('id', 'desc');

/** Finds and locks a key of this account that is not deleted. */
export const lockApiKey = async (
  trx: Knex.Transaction,
  { id, userId }: { readonly id: string; readonly userId: string },
): Promise<ApiKey | undefined> =>
  await selectKeys(trx).where({ id, svc_user_id: userId }).whereNull('deleted_at').forUpdate().first();

/** Finds a key that is not deleted. */
export const findApiKey = async (database: Knex, id: string): Promise<ApiKey | undefined> =>
  await selectKeys(database).where({ id }).whereNull('deleted_at').first();

const selectKeys = (database: Knex) => database('api_keys').select<ApiKey[]>(database.raw(COLUMNS.select('api_keys')));

/** Finds the name of a key of this account, deleted or not. */
export const findKeyName = async (
  database: Knex,
  { id, userId }: { readonly id: string; readonly userId: string },
): Promise<string | undefined> => {
  const row = await database('api_keys').where({ id, svc_user_id: userId }).first('name');
  return row?.name;
};

/** Updates a key. The caller must hold the lock on its row. */
export const updateApiKey = async (trx: Knex.Transaction, key: ApiKey): Promise<void> => {
  await trx('api_keys').where({ id: key.id }).update(toChange(key));
};

/**
 * Replaces the secret of a key. The current one stays valid until `key.previousExpiresAt`. The caller must hold the lock
 * on its row.
 */
export const updateApiKeySecret = async (trx: Knex.Transaction, key: ApiKey, hash: Buffer): Promise<void> => {
  const previous_hash = key.previousExpiresAt === null ? null : trx.ref('hash');
  await trx('api_keys')
    .where({ id: key.id })
    .update({ ...toChange(key), hash, previous_hash });
};

/** Omits `last_used_at`, which the last-use tracker writes without the lock. */
const toChange = (key: ApiKey): Record<string, unknown> => {
  const { last_used_at, ...row } = COLUMNS.toRow(key);
  return row;
};

/**
 * Finds keys that are not deleted by the hashes of their secrets; results are in the order of the hashes. A key found by
 * its previous secret expires with that secret.
 */
export const findApiKeysByHash = async (
  database: Knex,
  hashes: readonly Buffer[],
): Promise<readonly (ApiKey | undefined)[]> => {
  const select = (column: 'hash' | 'previous_hash'): string =>
    `SELECT ${column} AS "foundBy", ${column === 'previous_hash'} AS "isPrevious", ${COLUMNS.select('api_keys')}
     FROM api_keys WHERE ${column} = ANY (?::bytea[]) AND deleted_at IS NULL`;
  const { rows } = await database.raw<{ rows: FoundKey[] }>(`${select('hash')} UNION ALL ${select('previous_hash')}`, [
    [...hashes],
    [...hashes],
  ]);
  const keys = new Map(rows.map((row) => [row.foundBy.toString('hex'), toFoundKey(row)]));
  return hashes.map((hash) => keys.get(hash.toString('hex')));
};

interface FoundKey extends ApiKey {
  readonly foundBy: Buffer;
  readonly isPrevious: boolean;
}

const toFoundKey = ({ foundBy, isPrevious, ...key }: FoundKey): ApiKey => ({
  ...key,
  expiresAt: isPrevious ? earlier(key.expiresAt, key.previousExpiresAt) : key.expiresAt,
});

const earlier = (one: Date | null, other: Date | null): Date | null => {
  if (one === null || other === null) return one ?? other;
  return one < other ? one : other;
};

/** Marks a key of this account as deleted. Returns false if there is none. */
export const updateApiKeyDeletedAt = async (
  trx: Knex.Transaction,
  { id, userId, at }: { readonly id: string; readonly userId: string; readonly at: Date },
): Promise<boolean> => {
  const count = await trx('api_keys')
    .where({ id, svc_user_id: userId })
    .whereNull('deleted_at')
    .update({ deleted_at: at });
  return count === 1;
};

/** Updates `last_used_at` of keys. Never moves a time back. */
export const updateApiKeysLastUsedAt = async (database: Knex, uses: ReadonlyMap<string, number>): Promise<void> => {
  const rows = [...uses].map(([id, atMs]) => ({ id, at: new Date(atMs).toISOString() }));
  await database.raw(
    `UPDATE api_keys SET last_used_at = greatest(last_used_at, used.at)
     FROM jsonb_to_recordset(?::jsonb) AS used(id text, at timestamptz) WHERE api_keys.id = used.id`,
    [JSON.stringify(rows)],
  );
};

/**
 * Records that a request was refused because of the monthly limit of a key. Returns the key if that is the first such refusal in
 * the month that ends then.
 */
export const updateLimitReached = async (
  trx: Knex.Transaction,
  { id, monthEndsAt }: { readonly id: string; readonly monthEndsAt: Date },
): Promise<ApiKey | undefined> => {
  const count = await trx('api_keys')
    .where({ id })
    .whereNull('deleted_at')
    .where((month) => month.whereNull('limit_reached_until').orWhere('limit_reached_until', '<', monthEndsAt))
    .update({ limit_reached_until: monthEndsAt });
  return count === 1 ? await findApiKey(trx, id) : undefined;
};

/** Erases every key of an erased account. Usage records keep their ids. */
export const deleteKeysOfUser = async (trx: Knex.Transaction, userId: string): Promise<void> => {
  await lockKeysOfAccount(trx, userId);
  await trx('api_keys').where({ svc_user_id: userId }).delete();
};
