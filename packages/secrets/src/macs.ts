import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { deriveAll, type SecretKeys } from './secret-keys.ts';

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
