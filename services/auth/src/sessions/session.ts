import type { newId } from '@svc/contracts';
import { HOUR_MS } from '../time.ts';

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
}

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
