import { hash, randomBytes } from 'node:crypto';
import { DAY_MS, later, MINUTE_MS } from '../time.ts';

/** Lifetime of the tokens of each purpose. */
const LIFETIME_MS = {
  verify_email: 3 * DAY_MS,
  reset_password: 30 * MINUTE_MS,
  confirm_email: DAY_MS,
  undo_email: 7 * DAY_MS,
  link_identity: 30 * MINUTE_MS,
  /** Longer than the maximum delay of an erasure, which voids the token. */
  cancel_deletion: 366 * DAY_MS,
} as const;

/** Action that a mailed token allows. */
export type MailedTokenPurpose = keyof typeof LIFETIME_MS;

/** A token as stored. */
export interface MailedTokenRecord {
  readonly digest: Buffer;
  readonly purpose: MailedTokenPurpose;
  readonly userId: string;
  /** Address that the token verifies, changes to or restores. */
  readonly email: string;
  /** Time of the request that led to the mail. */
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Identity at the OpenID provider that the token links; null for other purposes. */
  readonly issuer: string | null;
  readonly subject: string | null;
}

/** Subject of a new token. */
export interface MailedTokenSubject extends Pick<MailedTokenRecord, 'purpose' | 'userId' | 'email'> {
  readonly identity?: { readonly issuer: string; readonly subject: string };
  /** Time of the request, if it was made before. */
  readonly requestedAt?: Date;
}

const TOKEN_BYTES = 32;

/** Returns the stored digest of a token. */
export const mailedTokenDigest = (token: string): Buffer => hash('sha256', `mailed:${token}`, 'buffer');

/** Creates a token and its record. The token itself is only in the mail. */
export const newMailedToken = (
  { purpose, userId, email, identity, requestedAt }: MailedTokenSubject,
  now: Date,
): { token: string; record: MailedTokenRecord } => {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const record = {
    digest: mailedTokenDigest(token),
    purpose,
    userId,
    email,
    createdAt: requestedAt ?? now,
    expiresAt: later(now, LIFETIME_MS[purpose]),
    issuer: identity?.issuer ?? null,
    subject: identity?.subject ?? null,
  };
  return { token, record };
};
