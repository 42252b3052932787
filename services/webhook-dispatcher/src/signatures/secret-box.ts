import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { EncryptionKey } from './encryption-keys.ts';

export interface SealedSecret {
  readonly keyId: string;
  /** Nonce, ciphertext and tag. */
  readonly sealed: Buffer;
}

/** The row of a sealed secret, which opens in no other row. */
export interface SecretOwner {
  readonly clientId: string;
  readonly generation: number;
}

export interface SecretBox {
  readonly currentKeyId: string;
  readonly seal: (secret: string, owner: SecretOwner) => SealedSecret;
  /** Throws if the key is unknown, the bytes were changed, or they belong to another row. */
  readonly open: (sealed: SealedSecret, owner: SecretOwner) => string;
}

const CIPHER = 'aes-256-gcm';
/** NIST SP 800-38D section 8.2: 96 random bits. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SECRET_BYTES = 32;

/** Returns a new signing secret: `whsec_` and 32 random bytes in base64. */
export const newSigningSecret = (): string => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;

/** Seals with AES-256-GCM and the owner's row as associated data. */
export const createSecretBox = (keys: readonly [EncryptionKey, ...EncryptionKey[]]): SecretBox => {
  const [current] = keys;
  return {
    currentKeyId: current.id,
    seal(secret, owner) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, current.key, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(associatedData(owner, current.id));
      const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return { keyId: current.id, sealed: Buffer.concat([nonce, ciphertext, cipher.getAuthTag()]) };
    },
    open({ keyId, sealed }, owner) {
      const key = keys.find(({ id }) => id === keyId);
      if (key === undefined) throw new Error(`The encryption key ${keyId} is not configured.`);
      const decipher = createDecipheriv(CIPHER, key.key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAAD(associatedData(owner, keyId));
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
      const ciphertext = sealed.subarray(NONCE_BYTES, -TAG_BYTES);
      return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('utf8');
    },
  };
};

const associatedData = ({ clientId, generation }: SecretOwner, keyId: string): Buffer =>
  Buffer.from(JSON.stringify(['webhook-signing-secret', clientId, generation, keyId]));
