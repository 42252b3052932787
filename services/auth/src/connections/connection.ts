import type { BudgetLimit } from '@svc/contracts';
import { invalidField } from '@svc/service-kit';
import { DAY_MS } from '../time.ts';

/**
 * A user's connection to an app, as stored. The row is kept after the connection ends, so that the versions of its
 * facts keep growing.
 */
export interface ConnectionRecord {
  readonly userId: string;
  readonly clientId: string;
  readonly scope: string;
  readonly connectedAt: Date;
  readonly lastUsedAt: Date | null;
  /** Newest grant. If a suspension of the app covers it, the connection has ended even before its fact is written. */
  readonly lastGrantId: string;
  readonly version: number;
  readonly endedAt: Date | null;
  readonly isPaused: boolean;
  /** Copy of the budget in billing, which also counts its use. All three are null without a budget. */
  readonly budgetLimitMicros: number | null;
  readonly budgetPeriod: BudgetLimit['period'] | null;
  readonly budgetExpiresAt: Date | null;
  /** Number of changes of budget and pause, so that a change sees if another came first. */
  readonly termsVersion: number;
}

type Expiring = Pick<BudgetLimit, 'expires_at'>;

/** Returns true for a budget that has ended. */
export const hasPassed = ({ expires_at: expiresAt }: Expiring, now: Date): boolean =>
  expiresAt != null && new Date(expiresAt) <= now;

/** Throws the contract's 422 for a budget in a request that has ended. */
export const requireLiveBudget = (budget: Expiring | null | undefined, now: Date): void => {
  if (budget == null || !hasPassed(budget, now)) return;
  throw invalidField(['body', 'budget', 'expires_at'], 'value_error', 'Value error, must be in the future');
};

/** Returns the column values of a budget. */
export const budgetColumns = (
  budget: BudgetLimit | null,
): Pick<ConnectionRecord, 'budgetLimitMicros' | 'budgetPeriod' | 'budgetExpiresAt'> => ({
  budgetLimitMicros: budget?.limit_micros ?? null,
  budgetPeriod: budget?.period ?? null,
  budgetExpiresAt: budget?.expires_at == null ? null : new Date(budget.expires_at),
});

/** A permission given by one consent. */
export interface GrantRecord {
  readonly id: string;
  readonly userId: string;
  readonly clientId: string;
  readonly scope: string;
  /** Name that the device has given. Null for a consent in a browser. */
  readonly deviceName: string | null;
}

/** Reason why a connection ended. */
export type EndReason = 'user_disconnected' | 'app_suspended';

/** Grants unused for this long are deleted: their last refresh token expired a day before. */
export const GRANT_UNUSED_MS = 31 * DAY_MS;

/**
 * Maximum grants per connection: a new consent ends the oldest beyond it. Few enough to end in one transaction, and so
 * many that a burst of consents does not end the grant of a code before it is redeemed.
 */
export const GRANTS_PER_CONNECTION_MAX = 500;

/** Returns true if the last suspension of the app covers this grant. */
export const isCutOff = (grantId: string, cutoff: string | undefined): boolean =>
  cutoff !== undefined && grantId <= cutoff;

/** Returns true if a connection stands, given the last suspension of its app. */
export const isStanding = (connection: ConnectionRecord, cutoff: string | undefined): boolean =>
  connection.endedAt === null && !isCutOff(connection.lastGrantId, cutoff);
