import { createHmac, randomBytes } from 'node:crypto';
import { STANDARD_WEBHOOK_HEADERS, WEBHOOK_SIGNATURE_HEADER } from '@svc/contracts';
import { createSealer, type SecretKeys } from '@svc/secrets';

/** The row of a sealed secret, which opens in no other row. */
interface SecretOwner {
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

/** A delivery to sign, and its secrets: the current one first. */
interface SignedDelivery {
  readonly eventId: string;
  readonly body: Uint8Array;
  readonly unixSeconds: number;
  readonly secrets: readonly string[];
}

const SECRET_PREFIX = 'whsec_';

/**
 * Returns the signature headers of a delivery, with one signature for each secret.
 *
 * Ours is `t=<unix seconds>,v1=<hex HMAC-SHA256>` over the timestamp, a dot and the raw body, with the whole secret in UTF-8 as
 * the key. Those of Standard Webhooks sign the event id as well, with the decoded part of the secret behind its prefix.
 */
export const signDelivery = ({ eventId, body, unixSeconds, secrets }: SignedDelivery): Record<string, string> => {
  const own = secrets.map(
    (secret) => `v1=${createHmac('sha256', secret).update(`${unixSeconds}.`).update(body).digest('hex')}`,
  );
  const standard = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${eventId}.${unixSeconds}.`).update(body).digest('base64')}`;
  });
  return {
    [WEBHOOK_SIGNATURE_HEADER]: [`t=${unixSeconds}`, ...own].join(','),
    [STANDARD_WEBHOOK_HEADERS.id]: eventId,
    [STANDARD_WEBHOOK_HEADERS.timestamp]: String(unixSeconds),
    [STANDARD_WEBHOOK_HEADERS.signature]: standard.join(' '),
  };
};
