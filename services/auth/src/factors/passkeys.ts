import { hash, randomBytes } from 'node:crypto';
import { camelKeys, type SnakeKeys, snakeKeys } from '@svc/database';
import type { Macs } from '@svc/secrets';
import type { Clock } from '@svc/service-kit';
import { ownOriginsOf } from '../cookies-and-origins.ts';
import { later, MINUTE_MS } from '../time.ts';
import type { Executor, Transaction } from '../transact.ts';

/** Time for the person to find and unlock the authenticator. */
const CHALLENGE_MS = 10 * MINUTE_MS;
const RANDOM_BYTES = 16;
const TIME_BYTES = 8;
/** Bytes of the signature in a challenge. */
export const CHALLENGE_MAC_BYTES = 16;

/** Purpose of a challenge. `sign_in` is for any account, the others are for one. */
export type PasskeyPurpose = 'registration' | 'second_factor' | 'reauthentication' | 'sign_in';

interface ChallengeSubject {
  readonly purpose: PasskeyPurpose;
  readonly userId: string | undefined;
}

/** Creates and checks the challenges of passkeys. They are signed, so that options need no database write. */
export interface PasskeyChallenges {
  readonly make: (subject: ChallengeSubject) => Buffer;
  /** Returns the digest and expiry of a challenge that was created for this subject, or undefined. */
  readonly check: (challenge: string, subject: ChallengeSubject) => { digest: Buffer; expiresAt: Date } | undefined;
}

/** Creates the signer of challenges; `macs` have `CHALLENGE_MAC_BYTES` each. */
export const createPasskeyChallenges = (macs: Macs, clock: Clock): PasskeyChallenges => {
  const signed = (head: Buffer, { purpose, userId }: ChallengeSubject): Buffer =>
    Buffer.concat([Buffer.from(`${purpose}:${userId ?? ''}:`), head]);
  return {
    make: (subject) => {
      const head = Buffer.alloc(RANDOM_BYTES + TIME_BYTES);
      randomBytes(RANDOM_BYTES).copy(head);
      head.writeBigUInt64BE(BigInt(later(clock(), CHALLENGE_MS).getTime()), RANDOM_BYTES);
      return Buffer.concat([head, macs.sign(signed(head, subject))]);
    },
    check: (challenge, subject) => {
      const bytes = Buffer.from(challenge, 'base64url');
      if (bytes.length !== RANDOM_BYTES + TIME_BYTES + CHALLENGE_MAC_BYTES) return undefined;
      const head = bytes.subarray(0, RANDOM_BYTES + TIME_BYTES);
      if (!macs.verify(signed(head, subject), bytes.subarray(head.length))) return undefined;
      const expiresAt = new Date(Number(head.readBigUInt64BE(RANDOM_BYTES)));
      return expiresAt <= clock() ? undefined : { digest: hash('sha256', bytes, 'buffer'), expiresAt };
    },
  };
};

/** The product as a relying party of passkeys (WebAuthn Level 3 section 4). */
export interface RelyingParty {
  readonly id: string;
  readonly name: string;
  /** Origins of pages that may use the product's passkeys. */
  readonly origins: readonly string[];
}

/**
 * Returns the relying party of a base URL. Browsers allow no IP address as its id, so that is replaced by `localhost`.
 */
export const relyingPartyOf = (publicBaseUrl: string): RelyingParty => {
  const origins = ownOriginsOf(publicBaseUrl);
  return { id: new URL(origins.at(-1) ?? publicBaseUrl).hostname, name: 'svc', origins };
};

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
