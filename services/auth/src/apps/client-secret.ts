import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Lets scanners recognize a leaked secret. */
const PREFIX = 'svc_cs_';
const SECRET_BYTES = 32;

/** Returns a secret of 256 random bits. */
export const newClientSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64url');

/** Returns the stored digest of a secret. A secret this random needs no slow hash. */
export const digestClientSecret = (secret: string): Buffer => hash('sha256', secret, 'buffer');

/** A stored secret. `expiresAt` is set when it is rotated. */
export interface StoredSecret {
  readonly digest: Buffer;
  readonly expiresAt: Date | null;
}

/** Returns true if a presented secret is live. Takes the same time for any secret. */
export const isLiveSecret = (stored: readonly StoredSecret[], presented: string, now: Date): boolean => {
  const digest = digestClientSecret(presented);
  return stored
    .map(
      ({ digest: expected, expiresAt }) => timingSafeEqual(expected, digest) && (expiresAt === null || expiresAt > now),
    )
    .includes(true);
};
