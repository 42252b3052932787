import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import { keyOf, SealBroken } from './sealer.ts';
import { deriveAll, KEY_ID_BYTES, keyIdOf, type SecretKeys } from './secret-keys.ts';

/** AES key wrap (RFC 3394) is deterministic, so a wrapped digest can be looked up, and needs no nonce for random data. */
const CIPHER = 'id-aes256-wrap';
/** RFC 3394 section 2.2.3.1. */
const INITIAL_VALUE = Buffer.alloc(8, 0xa6);

/**
 * Keyed digests of random secrets, for look-ups: key id, then the wrapped SHA-256. Without the key, a leaked table does not
 * allow guesses to be checked. Unlike an HMAC, a digest moves to another key without its secret.
 */
export interface Digests {
  /** Digest under the current key, to be stored. */
  readonly of: (secret: string) => Buffer;
  /** Digests under each key, one of which may be stored. */
  readonly candidates: (secret: string) => readonly Buffer[];
  /** Moves a stored digest to the current key. Throws SealBroken. */
  readonly renew: (stored: Buffer) => Buffer;
}

/** Creates the digests of one purpose. */
export const createDigests = (keys: SecretKeys, purpose: string): Digests => {
  const derived = deriveAll(keys, purpose);
  const wrap = (id: string, digest: Buffer): Buffer => {
    const cipher = createCipheriv(CIPHER, keyOf(derived, id, keys.setting), INITIAL_VALUE);
    return Buffer.concat([Buffer.from(id, 'hex'), cipher.update(digest), cipher.final()]);
  };
  const currentId = keyIdOf(keys.current.id);
  const sha256 = (secret: string): Buffer => hash('sha256', secret, 'buffer');
  return {
    of: (secret) => wrap(currentId, sha256(secret)),
    candidates: (secret) => {
      const digest = sha256(secret);
      return [...derived.keys()].map((id) => wrap(id, digest));
    },
    renew: (stored) => {
      const decipher = createDecipheriv(CIPHER, keyOf(derived, keyIdOf(stored), keys.setting), INITIAL_VALUE);
      try {
        return wrap(currentId, Buffer.concat([decipher.update(stored.subarray(KEY_ID_BYTES)), decipher.final()]));
      } catch {
        throw new SealBroken('a stored digest was changed');
      }
    },
  };
};

const MAC_BYTES = 32;

/** Signs what others keep for us and give back. */
export interface Macs {
  /** HMAC-SHA-256 under the current key. */
  readonly sign: (data: string | Buffer) => Buffer;
  /** HMACs under each key, the current one first. */
  readonly candidates: (data: string | Buffer) => readonly Buffer[];
  /** Returns true if one of the keys signed these data. */
  readonly verify: (data: string | Buffer, mac: Buffer) => boolean;
}

/** Creates the signer of one purpose, whose MACs are cut to `bytes`. */
export const createMacs = (keys: SecretKeys, purpose: string, bytes = MAC_BYTES): Macs => {
  const current = createSecretKey(keys.current.derive(purpose));
  const all = [...deriveAll(keys, purpose).values()].map((key) => createSecretKey(key));
  const macOf = (key: KeyObject, data: string | Buffer): Buffer =>
    createHmac('sha256', key).update(data).digest().subarray(0, bytes);
  const candidates: Macs['candidates'] = (data) => all.map((key) => macOf(key, data));
  return {
    sign: (data) => macOf(current, data),
    candidates,
    verify: (data, mac) => candidates(data).some((own) => own.length === mac.length && timingSafeEqual(own, mac)),
  };
};
