import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Sealer } from '@svc/secrets';
import { calculateJwkThumbprint, type JWK } from 'jose';
import { SECOND_MS } from '../time.ts';

/**
 * The only signature algorithm. ES256 signs three times as fast as RS256, and every verifier supports it (RFC 7518
 * section 3.4).
 */
export const SIGNING_ALGORITHM = 'ES256';

/**
 * `next`: published but not signing yet, so that verifiers know it in time. `active`: signs. `retired`: published until
 * its last token has expired.
 */
export type SigningKeyState = 'next' | 'active' | 'retired';

/** A key, as stored. Its private part is sealed. */
export interface StoredSigningKey {
  readonly kid: string;
  readonly state: SigningKeyState;
  readonly publicJwk: JWK;
  readonly sealedPrivateKey: Buffer;
  readonly createdAt: Date;
  readonly activatedAt: Date | null;
  readonly retiredAt: Date | null;
}

/** A key that can sign. */
export interface SigningKey {
  readonly kid: string;
  readonly publicJwk: JWK;
  readonly privateKey: KeyObject;
}

/** Seconds that a retired key stays published: the longest lifetime of a token (12 h) plus an hour of clock drift. */
const RETIRED_KEY_SECONDS = 13 * 3600;

/** Returns true if every token signed by a retired key has expired. */
export const isKeyForgettable = (key: StoredSigningKey, now: Date): boolean =>
  key.retiredAt !== null && now.getTime() - key.retiredAt.getTime() > RETIRED_KEY_SECONDS * SECOND_MS;

/** Generates a key in state `next`. Its id is its RFC 7638 thumbprint. */
export const generateSigningKey = async (sealer: Sealer, now: Date): Promise<StoredSigningKey> => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { kty, crv, x, y } = publicKey.export({ format: 'jwk' });
  if (kty === undefined || crv === undefined || x === undefined || y === undefined) {
    throw new TypeError('a P-256 key has four public members');
  }
  const kid = await calculateJwkThumbprint({ kty, crv, x, y });
  const plain = privateKey.export({ format: 'der', type: 'pkcs8' });
  return {
    kid,
    state: 'next',
    publicJwk: { kty, crv, x, y, kid, alg: SIGNING_ALGORITHM, use: 'sig' },
    sealedPrivateKey: sealer.seal(plain, kid),
    createdAt: now,
    activatedAt: null,
    retiredAt: null,
  };
};

/** Decrypts a stored key. Throws SealBroken if it was sealed with another encryption key. */
export const openSigningKey = (sealer: Sealer, stored: StoredSigningKey): SigningKey => {
  const plain = sealer.unseal(stored.sealedPrivateKey, stored.kid);
  const privateKey = createPrivateKey({ key: plain, format: 'der', type: 'pkcs8' });
  return { kid: stored.kid, publicJwk: stored.publicJwk, privateKey };
};
