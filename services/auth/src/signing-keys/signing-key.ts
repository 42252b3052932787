import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { calculateJwkThumbprint, type JWK } from 'jose';
import { seal, unseal } from '../encryption-key.ts';
import { SECOND_MS } from '../time.ts';

/** The one signature algorithm: ES256 signs three times as fast as RS256, and every verifier knows it (RFC 7518 section 3.4). */
export const SIGNING_ALGORITHM = 'ES256';

/**
 * `next` is published but does not sign yet, so that verifiers know it before they need it; `active` signs; `retired`
 * stays published until the last token that it signed has expired.
 */
export type SigningKeyState = 'next' | 'active' | 'retired';

/** A key as it is stored: its private part only sealed. */
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

/** Seconds that a retired key stays published: the longest token's life (12 h) and an hour for clocks. */
const RETIRED_KEY_SECONDS = 13 * 3600;

/** Says whether every token that a retired key has signed is expired by now. */
export const isKeyForgettable = (key: StoredSigningKey, now: Date): boolean =>
  key.retiredAt !== null && now.getTime() - key.retiredAt.getTime() > RETIRED_KEY_SECONDS * SECOND_MS;

/** Makes a new key in state `next`; its id is its RFC 7638 thumbprint. */
export const generateSigningKey = async (sealingKey: Buffer, now: Date): Promise<StoredSigningKey> => {
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
    sealedPrivateKey: seal(sealingKey, plain, kid),
    createdAt: now,
    activatedAt: null,
    retiredAt: null,
  };
};

/** Opens a stored key. Throws SealBroken when the encryption key is not the one that sealed it. */
export const openSigningKey = (sealingKey: Buffer, stored: StoredSigningKey): SigningKey => {
  const plain = unseal(sealingKey, stored.sealedPrivateKey, stored.kid);
  const privateKey = createPrivateKey({ key: plain, format: 'der', type: 'pkcs8' });
  return { kid: stored.kid, publicJwk: stored.publicJwk, privateKey };
};
