import {
  type AccountUsage,
  type AppUsage,
  type IntegrationUsage,
  PENDING_REQUESTS_MAX,
  type PlanServices,
  type Usage,
} from '@svc/contracts';
import type { Knex } from 'knex';
import { type AppStanding, findAppStanding } from '../app-budgets.ts';
import { findExtraStanding } from '../extra-usage.ts';
import { NO_SERVICES, readStanding, type WindowUse } from '../reservations/index.ts';

export interface UsageDeps {
  readonly database: Knex;
  readonly pastDueGraceDays: number;
}

/** Reads shared limits and usage of an account. Without a subscription, its fields are null. */
export const readUsage = async ({ database, pastDueGraceDays }: UsageDeps, userId: string): Promise<Usage> => {
  const standing = await readStanding(database, userId, pastDueGraceDays);
  return {
    status: standing?.status ?? null,
    plan: standing === undefined ? null : { id: standing.plan.id, name: standing.plan.name },
    period:
      standing === undefined
        ? null
        : { start: standing.period.start.toISOString(), end: standing.period.end.toISOString() },
    weekly: standing === undefined ? null : describeWindow(standing.weekly),
    monthly: standing === undefined ? null : describeWindow(standing.monthly),
    pending_requests: standing?.pending ?? 0,
    max_pending_requests: PENDING_REQUESTS_MAX,
    services: standing?.services ?? NO_SERVICES,
  };
};

/** Reads shared limits and usage of an account, with its extra use. */
export const readAccountUsage = async (deps: UsageDeps, userId: string): Promise<AccountUsage> => {
  const [usage, extra] = await Promise.all([readUsage(deps, userId), findExtraStanding(deps.database, userId)]);
  const { isEnabled, usedMicros, maxMicros } = extra;
  return { ...usage, extra: { enabled: isEnabled, used_micros: usedMicros, limit_micros: maxMicros } };
};

/** Reads shared limits and usage of an account, with the app's own use. */
export const readIntegrationUsage = async (
  deps: UsageDeps,
  app: { readonly userId: string; readonly clientId: string },
): Promise<IntegrationUsage> => {
  const [usage, standing] = await Promise.all([
    readAccountUsage(deps, app.userId),
    findAppStanding(deps.database, app),
  ]);
  return { ...usage, app: describeApp(standing) };
};

const describeApp = ({ isPaused, limit, usedMicros, heldMicros, resetsAt }: AppStanding): AppUsage => ({
  paused: isPaused,
  used_micros: usedMicros,
  held_micros: heldMicros,
  limit_micros: limit?.micros ?? null,
  period: limit?.period ?? null,
  resets_at: limit === null ? null : (resetsAt?.toISOString() ?? null),
  expires_at: limit?.expiresAt?.toISOString() ?? null,
});

/** Reads the services of the paid period; none without a subscription that admits requests. */
export const readEntitlements = async (deps: UsageDeps, userId: string): Promise<PlanServices> => {
  const standing = await readStanding(deps.database, userId, deps.pastDueGraceDays);
  return standing?.services ?? NO_SERVICES;
};

const describeWindow = (window: WindowUse) => ({
  used_percent: window.usedPercent,
  used_micros: window.usedMicros,
  limit_micros: window.limitMicros,
  resets_at: window.resetsAt.toISOString(),
});
