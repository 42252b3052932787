import type { newId } from '@svc/contracts';
import type { AccountRecord } from '../accounts/index.ts';
import { type ActingMembership, findActingMembership } from '../memberships.ts';
import { HOUR_MS, later } from '../time.ts';
import type { Executor } from '../transact.ts';

/** Lifetime of a console session, in seconds. */
export const SESSION_SECONDS = 12 * 3600;
/** Lifetime of a console session, in milliseconds. */
export const SESSION_MS = 12 * HOUR_MS;

/** Time of authentication of a session whose sign-in may be of any age: a sensitive act wants another proof first. */
export const NEVER = new Date(0);

/** A signed-in person, as stored. */
export interface SessionRecord {
  readonly id: string;
  readonly userId: string;
  readonly createdAt: Date;
  /** Last time that the person authenticated, here or by a fresh sign-in at the OpenID provider; NEVER if unknown. */
  readonly authenticatedAt: Date;
  readonly expiresAt: Date;
  /** Last use seen by this service, to the minute. */
  readonly lastUsedAt: Date;
  readonly userAgent: string | null;
  /** Network in which the session started, /24 or /48. */
  readonly network: string | null;
  /** Organization that the person acts for. Null for an account that acts for itself, which a business account does too. */
  readonly organizationId: string | null;
  /** Session of the sign-in from which this one was switched; null for that itself. */
  readonly signInId: string | null;
}

/** Returns the id of the session of the sign-in. A person sees and ends it together with those switched from it. */
export const signInOf = ({ id, signInId }: Pick<SessionRecord, 'id' | 'signInId'>): string => signInId ?? id;

/** Returns the time at which a session ends if it is not used again. */
export const endOfSession = (session: SessionRecord, idleMs: number): Date =>
  earlierOf(session.expiresAt, later(session.lastUsedAt, idleMs));

/**
 * Returns the expiry of a session's token. Other services do not see that a session is idle, so a token lives for at
 * most half the idle time: a session in use is renewed here in time.
 */
export const tokenExpiryOf = (session: SessionRecord, { now, idleMs }: { now: Date; idleMs: number }): Date =>
  idleMs >= SESSION_MS ? session.expiresAt : earlierOf(session.expiresAt, later(now, idleMs / 2));

const earlierOf = (one: Date, other: Date): Date => (one < other ? one : other);

/**
 * Returns an id that sorts after every session ended by signing out everywhere, even if the clocks of replicas differ.
 */
export const newSessionId = (deps: { newId: typeof newId }, now: Date, revokedThrough: string | null): string => {
  let aheadMs = 0;
  let id = deps.newId('ses', now.getTime());
  while (revokedThrough !== null && id <= revokedThrough) {
    aheadMs = aheadMs * 2 + 1;
    id = deps.newId('ses', now.getTime() + aheadMs);
  }
  return id;
};

/**
 * Finds the organization that the person of a session acts for, with the present role; null for a personal account that
 * acts for itself. Returns undefined if the person is no longer a member.
 */
export const findActing = async (
  executor: Executor,
  { organizationId }: Pick<SessionRecord, 'organizationId'>,
  { id: userId, accountType }: Pick<AccountRecord, 'id' | 'accountType'>,
): Promise<ActingMembership | null | undefined> => {
  const acting = organizationId ?? (accountType === 'business' ? userId : null);
  return acting === null ? null : await findActingMembership(executor, { organizationId: acting, userId });
};
