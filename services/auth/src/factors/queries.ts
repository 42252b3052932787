import type { Factor } from '@svc/contracts';
import { camelKeys, type SnakeKeys, snakeKeys } from '@svc/database';
import type { Executor, Transaction } from '../transact.ts';

/** A TOTP factor, as stored. It is in use once confirmed. */
export interface TotpRecord {
  readonly id: string;
  readonly userId: string;
  readonly name: string;
  readonly sealedSecret: Buffer;
  readonly createdAt: Date;
  readonly confirmedAt: Date | null;
  /** Newest time step with an accepted code. */
  readonly lastStep: number | null;
  readonly lastUsedAt: Date | null;
}

/** Lists the factors in use, oldest first. */
export const listFactorsOfUser = async (executor: Executor, userId: string): Promise<FactorRecord[]> => {
  const { rows }: { rows: SnakeKeys<FactorRecord>[] } = await executor.raw(
    `SELECT id, 'totp' AS type, name, created_at, last_used_at
     FROM totp_factors WHERE user_id = :userId AND confirmed_at IS NOT NULL
     UNION ALL SELECT id, 'passkey', name, created_at, last_used_at FROM passkeys WHERE user_id = :userId
     ORDER BY created_at, id`,
    { userId },
  );
  return rows.map((row) => camelKeys(row));
};

export const listTotpsOfUser = async (executor: Executor, userId: string): Promise<TotpRecord[]> => {
  const rows = await executor<SnakeKeys<TotpRecord>>('totp_factors')
    .where({ user_id: userId })
    .whereNotNull('confirmed_at');
  return rows.map((row) => camelKeys(row));
};

export const insertTotp = async (trx: Transaction, totp: TotpRecord): Promise<void> => {
  await trx('totp_factors').insert(snakeKeys(totp));
};

/** Finds an unconfirmed TOTP factor added since the given time. */
export const findUnconfirmedTotp = async (
  trx: Transaction,
  { id, userId, since }: { id: string; userId: string; since: Date },
): Promise<TotpRecord | undefined> => {
  const row = await trx<SnakeKeys<TotpRecord>>('totp_factors')
    .where({ id, user_id: userId })
    .whereNull('confirmed_at')
    .where('created_at', '>', since)
    .first();
  return row === undefined ? undefined : camelKeys(row);
};

export const confirmTotpById = async (
  trx: Transaction,
  id: string,
  { step, now }: { step: number; now: Date },
): Promise<void> => {
  await trx('totp_factors').where({ id }).update({ confirmed_at: now, last_step: step });
};

/** Records the use of a time step. Returns false if a code of this or a later step was used before. */
export const useTotpStep = async (
  trx: Transaction,
  id: string,
  { step, now }: { step: number; now: Date },
): Promise<boolean> =>
  (await trx('totp_factors')
    .where({ id })
    .where('last_step', '<', step)
    .update({ last_step: step, last_used_at: now })) > 0;

/** Deletes a factor of any kind. Returns its record, with `isInUse` false for a TOTP factor that was never confirmed. */
export const deleteFactorById = async (
  trx: Transaction,
  { id, userId }: { id: string; userId: string },
): Promise<{ name: string; isInUse: boolean } | undefined> => {
  const [row] = await trx('totp_factors')
    .where({ id, user_id: userId })
    .delete()
    .returning<{ name: string; confirmed_at: Date | null }[]>(['name', 'confirmed_at']);
  if (row !== undefined) return { name: row.name, isInUse: row.confirmed_at !== null };
  const [passkey] = await trx('passkeys').where({ id, user_id: userId }).delete().returning<{ name: string }[]>('name');
  return passkey && { name: passkey.name, isInUse: true };
};

export const deleteUnconfirmedTotpsOfUser = async (trx: Transaction, userId: string): Promise<void> => {
  await trx('totp_factors').where({ user_id: userId }).whereNull('confirmed_at').delete();
};

/** Deletes the TOTP factors of a user, or those added since the given time. Returns the number of those in use. */
export const deleteTotpsOfUser = async (trx: Transaction, userId: string, since?: Date): Promise<number> => {
  const totps = trx('totp_factors').where({ user_id: userId });
  // A factor comes into use when it is confirmed.
  if (since !== undefined)
    totps.where((row) => row.where('created_at', '>=', since).orWhere('confirmed_at', '>=', since));
  const rows = await totps.delete().returning<{ confirmed_at: Date | null }[]>('confirmed_at');
  return rows.filter((row) => row.confirmed_at !== null).length;
};

/** Deletes the recovery codes of a user, or those made since the given time. */
export const deleteRecoveryCodesOfUser = async (trx: Transaction, userId: string, since?: Date): Promise<void> => {
  const codes = trx('recovery_codes').where({ user_id: userId });
  await (since === undefined ? codes : codes.where('created_at', '>=', since)).delete();
};

/** Deletes at most `limit` unconfirmed TOTP factors added before the given time. Returns the number. */
export const deleteUnconfirmedTotpsBefore = async (
  executor: Executor,
  before: Date,
  limit: number,
): Promise<number> => {
  const old = executor('totp_factors').where('created_at', '<', before).whereNull('confirmed_at').limit(limit);
  return await executor('totp_factors').whereIn('id', old.select('id')).delete();
};

/** Replaces the recovery codes of an account. */
export const replaceRecoveryCodes = async (
  trx: Transaction,
  userId: string,
  { digests, createdAt }: { digests: readonly Buffer[]; createdAt: Date },
): Promise<void> => {
  await deleteRecoveryCodesOfUser(trx, userId);
  await trx('recovery_codes').insert(digests.map((digest) => snakeKeys({ userId, digest, createdAt })));
};

export const countRecoveryCodes = async (executor: Executor, userId: string): Promise<number> => {
  const row = await executor('recovery_codes')
    .where({ user_id: userId })
    .count<{ count: string }>({ count: '*' })
    .first();
  return Number(row?.count ?? 0);
};

export const hasRecoveryCode = async (executor: Executor, userId: string, digest: Buffer): Promise<boolean> =>
  (await executor('recovery_codes').where({ user_id: userId, digest }).first('user_id')) !== undefined;

/** Uses up a recovery code. Returns false if it was used before. */
export const deleteRecoveryCode = async (trx: Transaction, userId: string, digest: Buffer): Promise<boolean> =>
  (await trx('recovery_codes').where({ user_id: userId, digest }).delete()) > 0;

/** A second factor in use, of any kind. */
export interface FactorRecord {
  readonly id: string;
  readonly type: 'totp' | 'passkey';
  readonly name: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

/** Maximum factors per account, of all kinds. */
export const FACTORS_MAX = 10;

/** Maps a factor to the JSON that its owner sees. */
export const toFactorJson = ({ id, type, name, createdAt, lastUsedAt }: FactorRecord): Factor => ({
  id,
  type,
  name,
  created_at: createdAt.toISOString(),
  last_used_at: lastUsedAt?.toISOString() ?? null,
});
