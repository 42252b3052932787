import { camelKeys, type SnakeKeys, snakeKeys } from '../key-case.ts';
import type { Executor, Transaction } from '../transact.ts';

/** A passkey as stored. */
export interface PasskeyRecord {
  readonly id: string;
  readonly userId: string;
  readonly name: string;
  /** In base64url. */
  readonly credentialId: string;
  /** COSE key. */
  readonly publicKey: Buffer;
  readonly counter: number;
  readonly transports: string[];
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

/** Constraint violated by a credential that is registered already. */
export const CREDENTIAL_KEY = 'passkeys_credential_id_key';

type Row = Omit<SnakeKeys<PasskeyRecord>, 'counter'> & { readonly counter: string };

const toPasskey = ({ counter, ...row }: Row): PasskeyRecord => ({ ...camelKeys(row), counter: Number(counter) });

export const listPasskeysOfUser = async (executor: Executor, userId: string): Promise<PasskeyRecord[]> => {
  const rows = await executor<Row>('passkeys').where({ user_id: userId }).orderBy('created_at');
  return rows.map((row) => toPasskey(row));
};

export const findPasskeyByCredentialId = async (
  executor: Executor,
  credentialId: string,
): Promise<PasskeyRecord | undefined> => {
  const row = await executor<Row>('passkeys').where({ credential_id: credentialId }).first();
  return row === undefined ? undefined : toPasskey(row);
};

/** Stores a passkey. Violates CREDENTIAL_KEY. */
export const insertPasskey = async (trx: Transaction, passkey: PasskeyRecord): Promise<void> => {
  await trx('passkeys').insert(snakeKeys(passkey));
};

/** Deletes the passkeys of a user, or those added since the given time. Returns the number. */
export const deletePasskeysOfUser = async (trx: Transaction, userId: string, since?: Date): Promise<number> => {
  const passkeys = trx('passkeys').where({ user_id: userId });
  return await (since === undefined ? passkeys : passkeys.where('created_at', '>=', since)).delete();
};

/**
 * Records a use of a passkey. Returns false if its counter is not newer than the stored one. Authenticators without a
 * counter send 0 (WebAuthn Level 3 section 6.1.1).
 */
export const updatePasskeyUse = async (
  trx: Transaction,
  id: string,
  { counter, now }: { counter: number; now: Date },
): Promise<boolean> => {
  const result: { rowCount: number } = await trx.raw(
    `UPDATE passkeys SET counter = :counter, last_used_at = :now
     WHERE id = :id AND (counter < :counter OR (counter = 0 AND :counter = 0))`,
    { id, counter, now },
  );
  return result.rowCount > 0;
};

/** Uses up a challenge. Returns false if it was used before. */
export const useChallenge = async (
  trx: Transaction,
  challenge: { digest: Buffer; expiresAt: Date },
): Promise<boolean> => {
  const rows = await trx('used_passkey_challenges')
    .insert(snakeKeys(challenge))
    .onConflict('digest')
    .ignore()
    .returning('digest');
  return rows.length > 0;
};

/** Deletes at most `limit` used challenges that expired before the given time. Returns the number. */
export const deleteUsedChallengesExpiredBefore = async (
  executor: Executor,
  before: Date,
  limit: number,
): Promise<number> => {
  const old = executor('used_passkey_challenges').where('expires_at', '<', before).limit(limit);
  return await executor('used_passkey_challenges').whereIn('digest', old.select('digest')).delete();
};
