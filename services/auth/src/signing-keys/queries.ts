import type { Executor, Transaction } from '../transact.ts';
import type { SigningKeyState, StoredSigningKey } from './signing-key.ts';

interface Row {
  kid: string;
  state: SigningKeyState;
  public_jwk: StoredSigningKey['publicJwk'];
  sealed_private_key: Buffer;
  created_at: Date;
  activated_at: Date | null;
  retired_at: Date | null;
}

const toKey = (row: Row): StoredSigningKey => ({
  kid: row.kid,
  state: row.state,
  publicJwk: row.public_jwk,
  sealedPrivateKey: row.sealed_private_key,
  createdAt: row.created_at,
  activatedAt: row.activated_at,
  retiredAt: row.retired_at,
});

/** All published keys, the one that signs first. */
export const listSigningKeys = async (executor: Executor): Promise<StoredSigningKey[]> => {
  const rows = await executor<Row>('signing_keys')
    .select('*')
    .orderByRaw(`CASE state WHEN 'active' THEN 0 WHEN 'next' THEN 1 ELSE 2 END, created_at`);
  return rows.map(toKey);
};

/** Replicas that start or rotate at one time take turns; held until the transaction ends. */
export const lockSigningKeys = async (trx: Transaction): Promise<void> => {
  await trx.raw(`SELECT pg_advisory_xact_lock(hashtext('auth.signing_keys'))`);
};

/** Stores a new key. */
export const insertSigningKey = async (trx: Transaction, key: StoredSigningKey): Promise<void> => {
  await trx('signing_keys').insert({
    kid: key.kid,
    state: key.state,
    public_jwk: JSON.stringify(key.publicJwk),
    sealed_private_key: key.sealedPrivateKey,
    created_at: key.createdAt,
    activated_at: key.activatedAt,
    retired_at: key.retiredAt,
  });
};

/** `next` to `active`. */
export const activateSigningKey = async (trx: Transaction, kid: string, now: Date): Promise<void> => {
  await trx('signing_keys').where({ kid, state: 'next' }).update({ state: 'active', activated_at: now });
};

/** `active` to `retired`. */
export const retireSigningKey = async (trx: Transaction, kid: string, now: Date): Promise<void> => {
  await trx('signing_keys').where({ kid, state: 'active' }).update({ state: 'retired', retired_at: now });
};

/** Removes a retired key. */
export const deleteSigningKey = async (trx: Transaction, kid: string): Promise<void> => {
  await trx('signing_keys').where({ kid, state: 'retired' }).delete();
};
