import type { FoundManagementKey, ManagementKeyJson, ManagementScope } from '@svc/contracts';
import { camelKeys, type SnakeKeys, snakeKeys } from '@svc/database';
import type { Executor, Transaction } from '../transact.ts';

/** A management key, as stored without its digest. */
export interface ManagementKeyRecord {
  readonly id: string;
  readonly userId: string;
  /** Person who created the key. */
  readonly createdBy: string;
  /** Session that created the key. */
  readonly sessionId: string;
  readonly name: string;
  readonly prefix: string;
  readonly scopes: readonly ManagementScope[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
}

export const toManagementKeyJson = (key: ManagementKeyRecord): ManagementKeyJson => ({
  id: key.id,
  name: key.name,
  prefix: key.prefix,
  scopes: [...key.scopes],
  expires_at: key.expiresAt?.toISOString() ?? null,
  created_at: key.createdAt.toISOString(),
  last_used_at: key.lastUsedAt?.toISOString() ?? null,
});

/** A management key with what its uses need to know of the account. */
export interface UsedManagementKey extends ManagementKeyRecord {
  readonly accountType: 'personal' | 'business';
  readonly emailVerifiedAt: Date | null;
}

export const toFoundManagementKey = (
  key: UsedManagementKey,
  { isVerificationRequired }: { readonly isVerificationRequired: boolean },
): FoundManagementKey => ({
  id: key.id,
  svc_user_id: key.userId,
  created_by: key.createdBy,
  session_id: key.sessionId,
  account_type: key.accountType,
  is_email_unverified: isVerificationRequired && key.emailVerifiedAt === null,
  scopes: [...key.scopes],
  expires_at: key.expiresAt?.toISOString() ?? null,
});

const COLUMNS = Object.keys({
  id: true,
  user_id: true,
  created_by: true,
  session_id: true,
  name: true,
  prefix: true,
  scopes: true,
  created_at: true,
  expires_at: true,
  last_used_at: true,
} satisfies Record<keyof SnakeKeys<ManagementKeyRecord>, true>);

type Row = SnakeKeys<ManagementKeyRecord>;

export const insertManagementKey = async (
  trx: Transaction,
  { digest, ...key }: ManagementKeyRecord & { readonly digest: Buffer },
): Promise<void> => {
  await trx('management_keys').insert({ ...snakeKeys(key), digest });
};

/** Lists the management keys of an account, newest first. */
export const listManagementKeysOfUser = async (executor: Executor, userId: string): Promise<ManagementKeyRecord[]> => {
  const rows = await executor('management_keys')
    .where({ user_id: userId })
    .orderBy('id', 'desc')
    .select<Row[]>(COLUMNS);
  return rows.map((row) => camelKeys(row));
};

/** Deletes a management key of an account and returns its name; undefined if there is none. */
export const deleteManagementKeyOfUser = async (
  trx: Transaction,
  userId: string,
  id: string,
): Promise<string | undefined> => {
  const key = trx('management_keys').where({ id, user_id: userId });
  const [row] = await key.delete().returning<{ name: string }[]>('name');
  return row?.name;
};

/**
 * Deletes the management keys of an account, or those created since a time: also those that the person has created for
 * organizations. Returns their ids.
 */
export const deleteManagementKeysOfUser = async (
  trx: Transaction,
  userId: string,
  since: Date | undefined,
): Promise<string[]> => {
  const ended = trx('management_keys');
  if (since === undefined) ended.where({ user_id: userId });
  else {
    const created = ended.where('created_at', '>=', since);
    created.where((row) => row.where({ user_id: userId }).orWhere({ created_by: userId }));
  }
  const rows = await ended.delete().returning<{ id: string }[]>('id');
  return rows.map(({ id }) => id);
};

/** Names another session as the one that created the management keys of an account. */
export const updateSessionOfManagementKeys = async (
  trx: Transaction,
  userId: string,
  sessionId: string,
): Promise<void> => {
  await trx('management_keys').where({ user_id: userId }).update({ session_id: sessionId });
};

/** Deletes the management keys that a person has created for an organization. Returns their ids. */
export const deleteManagementKeysOfCreator = async (
  trx: Transaction,
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
): Promise<string[]> => {
  const created = trx('management_keys').where({ user_id: organizationId, created_by: userId });
  const rows = await created.delete().returning<{ id: string }[]>('id');
  return rows.map(({ id }) => id);
};

/** Finds management keys that have not expired; results are in the order of the digests. */
export const findManagementKeysByDigest = async (
  executor: Executor,
  digests: readonly Buffer[],
  now: Date,
): Promise<(UsedManagementKey | undefined)[]> => {
  const rows = await executor('management_keys as k')
    .join('accounts as a', 'a.id', 'k.user_id')
    .whereRaw('k.digest = ANY (?::bytea[])', [[...digests]])
    .where((row) => row.whereNull('k.expires_at').orWhere('k.expires_at', '>', now))
    .select<(SnakeKeys<UsedManagementKey> & { digest: Buffer })[]>(
      ...COLUMNS.map((column) => `k.${column}`),
      'k.digest',
      'a.account_type',
      'a.email_verified_at',
    );
  const found = new Map(rows.map(({ digest, ...row }) => [digest.toString('hex'), camelKeys(row)]));
  return digests.map((digest) => found.get(digest.toString('hex')));
};

/** Records the use of management keys, unless one was recorded since a time. */
export const markManagementKeysUsed = async (
  executor: Executor,
  ids: readonly string[],
  { now, unlessSince }: { readonly now: Date; readonly unlessSince: Date },
): Promise<void> => {
  await executor('management_keys')
    .whereIn('id', ids)
    .where((row) => row.whereNull('last_used_at').orWhere('last_used_at', '<', unlessSince))
    .update({ last_used_at: now });
};
