import type { Knex } from 'knex';
import type { ApiKey } from './api-key.ts';

interface Row {
  readonly id: string;
  readonly svc_user_id: string;
  readonly name: string;
  readonly prefix: string;
  readonly expires_at: Date | null;
  readonly requests_per_minute: number | null;
  readonly monthly_limit_micros: number | null;
  readonly created_at: Date;
  readonly last_used_at: Date | null;
  readonly session_id: string | null;
}

const COLUMNS = [
  'id',
  'svc_user_id',
  'name',
  'prefix',
  'expires_at',
  'requests_per_minute',
  'monthly_limit_micros',
  'created_at',
  'last_used_at',
  'session_id',
] as const;

const toApiKey = (row: Row): ApiKey => ({
  id: row.id,
  userId: row.svc_user_id,
  name: row.name,
  prefix: row.prefix,
  expiresAt: row.expires_at,
  requestsPerMinute: row.requests_per_minute,
  monthlyLimitMicros: row.monthly_limit_micros,
  createdAt: row.created_at,
  lastUsedAt: row.last_used_at,
  sessionId: row.session_id,
});

/** Inserts a key, unless the account has `keysMax` keys or the session that creates it has lost access. */
export const insertApiKey = async (
  database: Knex,
  { key, hash, keysMax }: { readonly key: ApiKey; readonly hash: Buffer; readonly keysMax: number },
): Promise<'inserted' | 'too_many' | 'session_ended'> =>
  database.transaction(async (trx) => {
    await lockKeysOfAccount(trx, key.userId);
    const cutoff = await trx('key_cutoffs')
      .where({ svc_user_id: key.userId })
      .where('sessions_revoked_through', '>=', key.sessionId)
      .first();
    if (cutoff !== undefined) return 'session_ended';
    const { rowCount } = await trx.raw<{ rowCount: number }>(
      `INSERT INTO api_keys (id, svc_user_id, name, prefix, hash, expires_at, requests_per_minute, monthly_limit_micros,
         created_at, session_id)
       SELECT :id, :userId, :name, :prefix, :hash, :expiresAt, :requestsPerMinute, :monthlyLimitMicros, :createdAt, :sessionId
       WHERE (SELECT count(*) FROM api_keys WHERE svc_user_id = :userId AND deleted_at IS NULL) < :keysMax`,
      { ...key, hash, keysMax },
    );
    return rowCount === 1 ? 'inserted' : 'too_many';
  });

/** Serializes key creation with the end of an account's access until the transaction ends. */
const lockKeysOfAccount = async (trx: Knex.Transaction, userId: string): Promise<void> => {
  await trx.raw('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', [`api_keys ${userId}`]);
};

/** Marks every key as deleted that a session up to `sessionsRevokedThrough` created, and stops those sessions from creating more. */
export const endKeysOfAccount = async (
  trx: Knex.Transaction,
  input: { readonly userId: string; readonly sessionsRevokedThrough: string; readonly at: Date },
): Promise<void> => {
  await lockKeysOfAccount(trx, input.userId);
  await trx.raw(
    `INSERT INTO key_cutoffs AS k (svc_user_id, sessions_revoked_through) VALUES (:userId, :sessionsRevokedThrough)
     ON CONFLICT (svc_user_id) DO UPDATE
     SET sessions_revoked_through = greatest(k.sessions_revoked_through, excluded.sessions_revoked_through)`,
    input,
  );
  await trx.raw(
    `UPDATE api_keys SET deleted_at = :at
     WHERE svc_user_id = :userId AND deleted_at IS NULL
       AND (session_id IS NULL OR session_id <= :sessionsRevokedThrough)`,
    input,
  );
};

/** The keys of an account that are not deleted, newest first. */
export const listApiKeysByUser = async (database: Knex, userId: string): Promise<ApiKey[]> => {
  const rows: Row[] = await database('api_keys')
    .select(COLUMNS)
    .where({ svc_user_id: userId })
    .whereNull('deleted_at')
    .orderBy('id', 'desc');
  return rows.map(toApiKey);
};

/** Finds keys that are not deleted by their hashes, in that order. */
export const findApiKeysByHash = async (
  database: Knex,
  hashes: readonly Buffer[],
): Promise<readonly (ApiKey | undefined)[]> => {
  const rows: (Row & { readonly hash: Buffer })[] = await database('api_keys')
    .select([...COLUMNS, 'hash'])
    .whereRaw('hash = ANY (?::bytea[])', [[...hashes]])
    .whereNull('deleted_at');
  const keys = new Map(rows.map((row) => [row.hash.toString('hex'), toApiKey(row)]));
  return hashes.map((hash) => keys.get(hash.toString('hex')));
};

/** Marks a key of this account as deleted; answers whether there was one. */
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

/** Notes when keys were last used; never moves a time back. */
export const updateApiKeysLastUsedAt = async (database: Knex, uses: ReadonlyMap<string, number>): Promise<void> => {
  const rows = [...uses].map(([id, atMs]) => ({ id, at: new Date(atMs).toISOString() }));
  await database.raw(
    `UPDATE api_keys SET last_used_at = greatest(last_used_at, used.at)
     FROM jsonb_to_recordset(?::jsonb) AS used(id text, at timestamptz) WHERE api_keys.id = used.id`,
    [JSON.stringify(rows)],
  );
};
