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
});

/** Inserts a key, unless the account already has `keysMax` of them; answers whether it did. */
export const insertApiKey = async (
  database: Knex,
  { key, hash, keysMax }: { readonly key: ApiKey; readonly hash: Buffer; readonly keysMax: number },
): Promise<boolean> => {
  const { rowCount } = await database.raw<{ rowCount: number }>(
    `INSERT INTO api_keys (id, svc_user_id, name, prefix, hash, expires_at, requests_per_minute, monthly_limit_micros, created_at)
     SELECT :id, :userId, :name, :prefix, :hash, :expiresAt, :requestsPerMinute, :monthlyLimitMicros, :createdAt
     WHERE (SELECT count(*) FROM api_keys WHERE svc_user_id = :userId AND deleted_at IS NULL) < :keysMax`,
    { ...key, hash, keysMax },
  );
  return rowCount === 1;
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

/** The key with this hash, unless it is deleted. */
export const findApiKeyByHash = async (database: Knex, hash: Buffer): Promise<ApiKey | undefined> => {
  const row: Row | undefined = await database('api_keys')
    .select(COLUMNS)
    .where({ hash })
    .whereNull('deleted_at')
    .first();
  return row === undefined ? undefined : toApiKey(row);
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
