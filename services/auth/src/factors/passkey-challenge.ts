import { hash, randomBytes } from 'node:crypto';
import type { Macs } from '@svc/secrets';
import type { Clock } from '@svc/service-kit';
import { later, MINUTE_MS } from '../time.ts';

/** Time for the person to find and unlock the authenticator. */
const CHALLENGE_MS = 10 * MINUTE_MS;
const RANDOM_BYTES = 16;
const TIME_BYTES = 8;
/** Bytes of the signature in a challenge. */
export const CHALLENGE_MAC_BYTES = 16;

/** Purpose of a challenge. `sign_in` is for any account, the others are for one. */
export type PasskeyPurpose = 'registration' | 'second_factor' | 'reauthentication' | 'sign_in';

export interface ChallengeSubject {
  readonly purpose: PasskeyPurpose;
  readonly userId: string | undefined;
}

/** Creates and checks the challenges of passkeys. They are signed, so that options need no database write. */
export interface PasskeyChallenges {
  readonly make: (subject: ChallengeSubject) => Buffer;
  /** Returns the digest and expiry of a challenge that was created for this subject, or undefined. */
  readonly check: (challenge: string, subject: ChallengeSubject) => { digest: Buffer; expiresAt: Date } | undefined;
}

/** Creates the signer of challenges; `macs` have `CHALLENGE_MAC_BYTES` each. */
export const createPasskeyChallenges = (macs: Macs, clock: Clock): PasskeyChallenges => {
  const signed = (head: Buffer, { purpose, userId }: ChallengeSubject): Buffer =>
    Buffer.concat([Buffer.from(`${purpose}:${userId ?? ''}:`), head]);
  return {
    make: (subject) => {
      const head = Buffer.alloc(RANDOM_BYTES + TIME_BYTES);
      randomBytes(RANDOM_BYTES).copy(head);
      head.writeBigUInt64BE(BigInt(later(clock(), CHALLENGE_MS).getTime()), RANDOM_BYTES);
      return Buffer.concat([head, macs.sign(signed(head, subject))]);
    },
    check: (challenge, subject) => {
      const bytes = Buffer.from(challenge, 'base64url');
      if (bytes.length !== RANDOM_BYTES + TIME_BYTES + CHALLENGE_MAC_BYTES) return undefined;
      const head = bytes.subarray(0, RANDOM_BYTES + TIME_BYTES);
      if (!macs.verify(signed(head, subject), bytes.subarray(head.length))) return undefined;
      const expiresAt = new Date(Number(head.readBigUInt64BE(RANDOM_BYTES)));
      return expiresAt <= clock() ? undefined : { digest: hash('sha256', bytes, 'buffer'), expiresAt };
    },
  };
};
