import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { deriveAll, KEY_ID_BYTES, keyIdOf, type SecretKeys } from './secret-keys.ts';

const CIPHER = 'aes-256-gcm';
/** NIST SP 800-38D section 8.2: 96 random bits. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const TAG_START = KEY_ID_BYTES + NONCE_BYTES;
const BODY_START = TAG_START + TAG_BYTES;

/** Encrypts values that are stored or that others keep for us: key id, nonce, tag, ciphertext. */
export interface Sealer {
  /** `unseal` requires the same `context`, so a sealed value cannot be moved to another place. */
  readonly seal: (plain: Buffer, context: string) => Buffer;
  /** Throws SealBroken. */
  readonly unseal: (sealed: Buffer, context: string) => Buffer;
  /** Seals a value again under the current key. Throws SealBroken. */
  readonly renew: (sealed: Buffer, context: string) => Buffer;
}

/** Thrown if a sealed value cannot be opened: an unknown key, another context, or a changed value. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken';
}

/** Creates the sealer of one purpose, with AES-256-GCM. */
export const createSealer = (keys: SecretKeys, purpose: string): Sealer => {
  const derived = deriveAll(keys, purpose);
  const { id } = keys.current;
  const current = keys.current.derive(purpose);
  const seal: Sealer['seal'] = (plain, context) => {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, current, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(context));
    const body = Buffer.concat([cipher.update(plain), cipher.final()]);
    return Buffer.concat([id, nonce, cipher.getAuthTag(), body]);
  };
  const unseal: Sealer['unseal'] = (sealed, context) => {
    if (sealed.length < BODY_START) throw new SealBroken('a sealed value is too short');
    const key = keyOf(derived, keyIdOf(sealed), keys.setting);
    const nonce = sealed.subarray(KEY_ID_BYTES, TAG_START);
    const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(TAG_START, BODY_START));
    try {
      return Buffer.concat([decipher.update(sealed.subarray(BODY_START)), decipher.final()]);
    } catch {
      throw new SealBroken('a sealed value was changed, or belongs to another place');
    }
  };
  return { seal, unseal, renew: (sealed, context) => seal(unseal(sealed, context), context) };
};

/** Returns a derived key. Throws SealBroken, which names the setting that lacks the key. */
export const keyOf = (derived: ReadonlyMap<string, Buffer>, id: string, setting: string): Buffer => {
  const key = derived.get(id);
  if (key === undefined) throw new SealBroken(`${setting} lacks the key ${id}`);
  return key;
};
