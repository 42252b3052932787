import { camelKeys, type SnakeKeys, snakeKeys } from '../key-case.ts';
import type { Executor, Transaction } from '../transact.ts';
import type { StoredSigningKey } from './signing-key.ts';

/** Lists all published keys, the signing one first. */
export const listSigningKeys = async (executor: Executor): Promise<StoredSigningKey[]> => {
  const rows = await executor<SnakeKeys<StoredSigningKey>>('signing_keys')
    .select('*')
    .orderByRaw(`CASE state WHEN 'active' THEN 0 WHEN 'next' THEN 1 ELSE 2 END, created_at`);
  return rows.map(camelKeys);
};

/** Serializes rotations of replicas until the transaction ends. */
export const lockSigningKeys = async (trx: Transaction): Promise<void> => {
  await trx.raw(`SELECT pg_advisory_xact_lock(hashtext('auth.signing_keys'))`);
};

/** Stores a new key. */
export const insertSigningKey = async (trx: Transaction, key: StoredSigningKey): Promise<void> => {
  await trx('signing_keys').insert(snakeKeys({ ...key, publicJwk: JSON.stringify(key.publicJwk) }));
};

/** Changes a key from `next` to `active`. */
export const activateSigningKey = async (trx: Transaction, kid: string, now: Date): Promise<void> => {
  await trx('signing_keys').where({ kid, state: 'next' }).update({ state: 'active', activated_at: now });
};

/** Changes a key from `active` to `retired`. */
export const retireSigningKey = async (trx: Transaction, kid: string, now: Date): Promise<void> => {
  await trx('signing_keys').where({ kid, state: 'active' }).update({ state: 'retired', retired_at: now });
};

/** Deletes a retired key. */
export const deleteSigningKey = async (trx: Transaction, kid: string): Promise<void> => {
  await trx('signing_keys').where({ kid, state: 'retired' }).delete();
};
