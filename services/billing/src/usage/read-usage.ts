import { PENDING_REQUESTS_MAX, type PlanServices, type Usage } from '@svc/contracts';
import type { Knex } from 'knex';
import { NO_SERVICES, readStanding, type WindowUse } from '../reservations/index.ts';

/** What reading usage needs. */
export interface UsageDeps {
  readonly database: Knex;
  readonly pastDueGraceDays: number;
}

/** Shared limits and usage of an account; parts are null where there never was a subscription. */
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

/** Which services the paid period includes now; none without a subscription that admits requests. */
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
