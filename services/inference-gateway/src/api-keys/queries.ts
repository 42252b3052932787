import { recordColumns } from '@svc/database';
import type { ConsoleSessionCaller, ManagementKeyCaller } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { ApiKey } from './api-key.ts';

const COLUMNS = recordColumns<ApiKey>({
  id: 'id text',
  userId: 'svc_user_id text',
  createdBy: 'created_by text',
  creatorLeft: 'creator_left boolean',
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
  secretCreatedBy: 'secret_created_by text',
  lastUsedAt: 'last_used_at timestamptz',
  sessionId: 'session_id text',
  previousExpiresAt: 'previous_expires_at timestamptz',
  version: 'version integer',
});

/** Inserts a key. */
export const insertApiKey = async (trx: Knex.Transaction, key: ApiKey, hash: Buffer): Promise<void> => {
  await trx('api_keys').insert({ ...COLUMNS.toRow(key), hash });
};

/** Counts the keys of an account that are not deleted. */
export const countApiKeys = async (trx: Knex.Transaction, userId: string): Promise<number> => {
  const row = await trx('api_keys')
    .where({ svc_user_id: userId })
    .whereNull('deleted_at')
    .count<{ count: number | string }[]>()
    .first();
  return Number(row?.count ?? 0);
};

/** Lists the keys within a scope that are not deleted, newest first. */
export const listApiKeys = async (database: Knex, scope: KeyScope): Promise<ApiKey[]> =>
  await selectKeys(database).where(toFilter(scope)).whereNull('deleted_at').orderBy('id', 'desc');

/** Finds and locks a key within a scope that is not deleted. */
export const lockApiKey = async (
  trx: Knex.Transaction,
  { id, ...scope }: KeyScope & { readonly id: string },
): Promise<ApiKey | undefined> =>
  await selectKeys(trx)
    .where({ id, ...toFilter(scope) })
    .whereNull('deleted_at')
    .forUpdate()
    .first();

const toFilter = ({ userId, createdBy }: KeyScope): Record<string, string> => ({
  svc_user_id: userId,
  ...(createdBy === undefined ? {} : { created_by: createdBy }),
});

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

/** Marks a key as deleted. The caller must hold the lock on its row. */
export const updateApiKeyDeletedAt = async (trx: Knex.Transaction, id: string, at: Date): Promise<void> => {
  await trx('api_keys').where({ id }).update({ deleted_at: at });
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

/** Keys that a caller may see and change. */
export interface KeyScope {
  /** Account of the keys. */
  readonly userId: string;
  /** Their creator, if the caller may only see own keys; undefined for all keys of the account. */
  readonly createdBy: string | undefined;
}

/** Returns the scope of a caller: a developer has only the keys that this person created. */
export const keyScopeOf = (caller: ConsoleSessionCaller | ManagementKeyCaller): KeyScope => {
  const isDeveloper = caller.kind === 'console_session' && caller.organization?.role === 'developer';
  return { userId: caller.userId, createdBy: isDeveloper ? caller.personId : undefined };
};

/** Returns true if a key is within a scope. */
export const isInScope = (
  { userId, createdBy }: KeyScope,
  key: { readonly userId: string; readonly createdBy: string },
): boolean => key.userId === userId && (createdBy === undefined || key.createdBy === createdBy);
