import type { AppBudget, BudgetLimit } from '@svc/contracts';

/** An app's standing with an account. */
export interface AppStanding {
  readonly clientId: string;
  readonly isPaused: boolean;
  readonly limit: {
    readonly micros: number;
    readonly period: BudgetLimit['period'];
    readonly expiresAt: Date | null;
  } | null;
  /** In the period of the limit; in the current week without one. */
  readonly usedMicros: number;
  /** Held of the budget for requests whose cost is open. */
  readonly heldMicros: number;
  readonly resetsAt: Date | null;
}

/** Returns the budget of a standing as other services show it; null without one. */
export const describeBudget = ({ limit, usedMicros, resetsAt }: AppStanding, currency: string): AppBudget | null =>
  limit && {
    limit_micros: limit.micros,
    currency,
    period: limit.period,
    used_micros: usedMicros,
    resets_at: resetsAt?.toISOString() ?? null,
    expires_at: limit.expiresAt?.toISOString() ?? null,
  };
