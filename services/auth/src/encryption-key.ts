import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const FORMAT = 1;

/** The key AUTH_ENCRYPTION_KEY. It is never used directly; only derived keys are. */
export interface EncryptionKey {
  /** Derives a 32-byte key for one purpose (RFC 5869). */
  readonly derive: (purpose: string) => Buffer;
}

/** Parses 32 bytes in hex or base64. Throws RangeError for another length. */
export const parseEncryptionKey = (text: string): EncryptionKey => {
  const isHex = /^[0-9a-fA-F]{64}$/.test(text);
  const master = Buffer.from(text, isHex ? 'hex' : 'base64');
  if (master.length !== KEY_BYTES) throw new RangeError('the encryption key must have 32 bytes');
  return {
    derive: (purpose) => Buffer.from(hkdfSync('sha256', master, Buffer.alloc(0), `svc-auth:${purpose}`, KEY_BYTES)),
  };
};

/**
 * Encrypts with AES-256-GCM. `unseal` requires the same `context`, so a sealed value cannot be moved to another place.
 */
export const seal = (key: Buffer, plain: Buffer, context: string): Buffer => {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(context));
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([Buffer.from([FORMAT]), iv, cipher.getAuthTag(), body]);
};

/** Thrown if a sealed value cannot be opened: another key, another context, or a changed value. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken';
}

/** Decrypts a value sealed by `seal`. Throws SealBroken. */
export const unseal = (key: Buffer, sealed: Buffer, context: string): Buffer => {
  const bodyStart = 1 + IV_BYTES + TAG_BYTES;
  if (sealed[0] !== FORMAT || sealed.length < bodyStart) throw new SealBroken('a sealed value has an unknown format');
  const iv = sealed.subarray(1, 1 + IV_BYTES);
  const tag = sealed.subarray(1 + IV_BYTES, bodyStart);
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(context)).setAuthTag(tag);
  try {
    return Buffer.concat([decipher.update(sealed.subarray(bodyStart)), decipher.final()]);
  } catch {
    throw new SealBroken('a sealed value does not open with AUTH_ENCRYPTION_KEY');
  }
};
