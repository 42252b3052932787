import { snakeKeys } from '../key-case.ts';
import type { Executor, Transaction } from '../transact.ts';

/** Serializes attempts on one quota until the transaction ends, so that none is added between counting and storing. */
export const lockQuota = async (trx: Transaction, digest: Buffer): Promise<void> => {
  await trx.raw('SELECT pg_advisory_xact_lock(?::bigint)', [digest.readBigInt64BE().toString()]);
};

/** Quota to check. */
export interface Quota {
  readonly column: 'address_digest' | 'source_digest';
  readonly value: Buffer;
  readonly max: number;
  readonly since: Date;
}

/**
 * Returns the time of the oldest of the last `max` attempts; undefined if there are fewer. A place is free once that is
 * old enough.
 */
export const findAttemptThatFillsQuota = async (executor: Executor, quota: Quota): Promise<Date | undefined> => {
  const row = await executor<{ attempted_at: Date }>('sign_in_attempts')
    .where(quota.column, quota.value)
    .where('attempted_at', '>', quota.since)
    .orderBy('attempted_at', 'desc')
    .offset(quota.max - 1)
    .first('attempted_at');
  return row?.attempted_at;
};

/** Stores a failed attempt. */
export const insertAttempt = async (
  trx: Transaction,
  attempt: { addressDigest: Buffer; sourceDigest: Buffer; attemptedAt: Date },
): Promise<void> => {
  await trx('sign_in_attempts').insert(snakeKeys(attempt));
};

/** Deletes the attempts on an address. */
export const deleteAttemptsOn = async (trx: Transaction, addressDigest: Buffer): Promise<void> => {
  await trx('sign_in_attempts').where({ address_digest: addressDigest }).delete();
};

/** Deletes at most `limit` attempts made before the given time. Returns the number. */
export const deleteAttemptsBefore = async (executor: Executor, before: Date, limit: number): Promise<number> =>
  await executor('sign_in_attempts')
    .whereIn('id', executor('sign_in_attempts').where('attempted_at', '<', before).limit(limit).select('id'))
    .delete();
