import type { BudgetLimit } from '@svc/contracts';
import { DAY_MS } from '../time.ts';

/** A user's connection to an app, as stored. The row outlives the connection, so that the versions of its facts keep growing. */
export interface ConnectionRecord {
  readonly userId: string;
  readonly clientId: string;
  readonly scope: string;
  readonly connectedAt: Date;
  readonly lastUsedAt: Date | null;
  /** The newest grant. If a suspension of the app covers it, the connection has ended, even before its fact is written. */
  readonly lastGrantId: string;
  readonly version: number;
  readonly endedAt: Date | null;
  readonly isPaused: boolean;
  /** The budget as billing holds it, which also counts its use. All three are null without one. */
  readonly budgetLimitMicros: number | null;
  readonly budgetPeriod: BudgetLimit['period'] | null;
  readonly budgetExpiresAt: Date | null;
}

/** Returns the columns of a budget. */
export const budgetColumns = (
  budget: BudgetLimit | null,
): Pick<ConnectionRecord, 'budgetLimitMicros' | 'budgetPeriod' | 'budgetExpiresAt'> => ({
  budgetLimitMicros: budget?.limit_micros ?? null,
  budgetPeriod: budget?.period ?? null,
  budgetExpiresAt: budget?.expires_at == null ? null : new Date(budget.expires_at),
});

/** The permission that one consent gave. */
export interface GrantRecord {
  readonly id: string;
  readonly userId: string;
  readonly clientId: string;
  readonly scope: string;
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
