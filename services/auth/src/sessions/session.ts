import { HOUR_MS } from '../clock.ts';

/** Seconds that a console session lives. */
export const SESSION_SECONDS = 12 * 3600;
/** The same in milliseconds. */
export const SESSION_MS = 12 * HOUR_MS;

/** A signed-in person, as stored. */
export interface SessionRecord {
  id: string;
  userId: string;
  createdAt: Date;
  expiresAt: Date;
}
