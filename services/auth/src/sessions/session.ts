import type { newId } from '@svc/contracts';
import { HOUR_MS, later } from '../time.ts';

/** Seconds that a console session lives. */
export const SESSION_SECONDS = 12 * 3600;
/** The same in milliseconds. */
export const SESSION_MS = 12 * HOUR_MS;

/** A signed-in person, as stored. */
export interface SessionRecord {
  readonly id: string;
  readonly userId: string;
  readonly createdAt: Date;
  /** Last time that the person proved who they are. */
  readonly authenticatedAt: Date;
  readonly expiresAt: Date;
  /** Last use that this service has seen, to the minute; null if only older releases have seen the session. */
  readonly lastUsedAt: Date | null;
  readonly userAgent: string | null;
  /** Network that the session began in, /24 or /48. */
  readonly network: string | null;
}

/** Returns the last use of a session. */
export const lastUseOf = ({ lastUsedAt, createdAt }: SessionRecord): Date => lastUsedAt ?? createdAt;

/** Returns when a session ends if it is not used again. */
export const endOfSession = (session: SessionRecord, idleMs: number): Date =>
  earlierOf(session.expiresAt, later(lastUseOf(session), idleMs));

/**
 * Returns when a token of the session expires. The other services cannot see that a session is idle, so a token lives for
 * half the idle time at most: a session in use is renewed here in time.
 */
export const tokenExpiryOf = (session: SessionRecord, { now, idleMs }: { now: Date; idleMs: number }): Date =>
  idleMs >= SESSION_MS ? session.expiresAt : earlierOf(session.expiresAt, later(now, idleMs / 2));

const earlierOf = (one: Date, other: Date): Date => (one < other ? one : other);

/** Clocks of replicas differ, but a new session must sort after every one that signing out everywhere has ended. */
export const newSessionId = (deps: { newId: typeof newId }, now: Date, revokedThrough: string | null): string => {
  let aheadMs = 0;
  let id = deps.newId('ses', now.getTime());
  while (revokedThrough !== null && id <= revokedThrough) {
    aheadMs = aheadMs * 2 + 1;
    id = deps.newId('ses', now.getTime() + aheadMs);
  }
  return id;
};
