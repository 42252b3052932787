import { DAY_MS } from '../clock.ts';

/** A user's standing connection to an app, as stored. It outlives its end, so that the versions of its facts keep growing. */
export interface ConnectionRecord {
  userId: string;
  clientId: string;
  scope: string;
  connectedAt: Date;
  lastUsedAt: Date | null;
  /** The newest grant; a connection whose newest grant an app's suspension covers has ended, even before its fact is written. */
  lastGrantId: string;
  version: number;
  endedAt: Date | null;
}

/** What one consent allowed. */
export interface GrantRecord {
  id: string;
  userId: string;
  clientId: string;
  scope: string;
}

/** Why a connection ended. */
export type EndReason = 'user_disconnected' | 'app_suspended';

/** A grant that is not used for this long is forgotten: its last refresh token expired a day before. */
export const GRANT_UNUSED_MS = 31 * DAY_MS;

/**
 * Grants that a connection holds at most: a new consent ends the oldest beyond it. As many as one transaction ends at a
 * disconnection, and so many that no burst of consents takes the grant of a code that has yet to be redeemed.
 */
export const GRANTS_PER_CONNECTION_MAX = 500;

/** Says whether a grant of this id is covered by the last suspension of its app. */
export const isCutOff = (grantId: string, cutoff: string | undefined): boolean =>
  cutoff !== undefined && grantId <= cutoff;

/** Says whether a connection stands, given the last suspension of its app. */
export const isStanding = (connection: ConnectionRecord, cutoff: string | undefined): boolean =>
  connection.endedAt === null && !isCutOff(connection.lastGrantId, cutoff);
