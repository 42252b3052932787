import { hash, randomBytes } from 'node:crypto';
import type { InvitationJson, Role } from '@svc/contracts';
import { DAY_MS } from '../time.ts';

/** Life of the mailed link. */
export const INVITATION_MS = 7 * DAY_MS;
const TOKEN_BYTES = 32;

/** An invitation that waits for its person, as stored without its digest. */
export interface InvitationRecord {
  readonly id: string;
  readonly organizationId: string;
  readonly email: string;
  readonly role: Role;
  readonly invitedBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** Creates the token of a link. Only its digest is stored. */
export const newInvitationToken = (): string => randomBytes(TOKEN_BYTES).toString('base64url');

export const invitationDigest = (token: string): Buffer => hash('sha256', `invitation:${token}`, 'buffer');

export const toInvitationJson = ({ id, email, role, expiresAt }: InvitationRecord): InvitationJson => ({
  id,
  email,
  role,
  expires_at: expiresAt.toISOString(),
});

/**
 * Returns what an audit log shows of an invited address: enough for the organization to recognize it. The log outlives the
 * account of a person who is erased.
 */
export const maskAddress = (email: string): string => `${email.slice(0, 1)}…${email.slice(email.lastIndexOf('@'))}`;
