import { randomBytes } from 'node:crypto';
import { createSealer, type SecretKeys } from '@svc/secrets';

/** The row of a sealed secret, which opens in no other row. */
export interface SecretOwner {
  readonly ownerId: string;
  readonly generation: number;
}

export interface SecretBox {
  readonly seal: (secret: string, owner: SecretOwner) => Buffer;
  /** Throws if the key is unknown, the bytes were changed, or they belong to another row. */
  readonly open: (sealed: Buffer, owner: SecretOwner) => string;
  /** Moves a secret to the current key. Throws as `open`. */
  readonly renew: (sealed: Buffer, owner: SecretOwner) => Buffer;
}

const SECRET_BYTES = 32;

/** Returns a new signing secret: `whsec_` and 32 random bytes in base64. */
export const newSigningSecret = (): string => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;

/** Creates the box of signing secrets. */
export const createSecretBox = (keys: SecretKeys): SecretBox => {
  const sealer = createSealer(keys, 'webhook-signing-secrets');
  const contextOf = ({ ownerId, generation }: SecretOwner): string => JSON.stringify([ownerId, generation]);
  return {
    seal: (secret, owner) => sealer.seal(Buffer.from(secret), contextOf(owner)),
    open: (sealed, owner) => sealer.unseal(sealed, contextOf(owner)).toString(),
    renew: (sealed, owner) => sealer.renew(sealed, contextOf(owner)),
  };
};
