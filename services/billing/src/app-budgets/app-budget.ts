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
  /** Use in the period of the limit; without a limit, in the current week. */
  readonly usedMicros: number;
  /** Held from the budget for requests whose cost is not final. */
  readonly heldMicros: number;
  readonly resetsAt: Date | null;
}

/** Maps a standing to the budget in the contract; null without a budget. */
export const describeBudget = ({ limit, usedMicros, resetsAt }: AppStanding, currency: string): AppBudget | null =>
  limit && {
    limit_micros: limit.micros,
    currency,
    period: limit.period,
    used_micros: usedMicros,
    resets_at: resetsAt?.toISOString() ?? null,
    expires_at: limit.expiresAt?.toISOString() ?? null,
  };
