import {
  type AccountUsage,
  type AppUsage,
  type DailyUse,
  type IntegrationUsage,
  PENDING_REQUESTS_MAX,
  type PlanServices,
  type RequestState,
  type requestUsageSchema,
  USAGE_HISTORY_APPS_MAX,
  type Usage,
} from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { z } from 'zod';
import { listKeyRequestStates } from '../leases/index.ts';
import { type AppStanding, findAppStanding, findExtraStanding } from '../limits/index.ts';
import {
  type DayUse,
  findRequestByOwner,
  listDayUse,
  NO_SERVICES,
  type RequestRecord,
  readStanding,
  type WindowUse,
} from '../reservations/index.ts';

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

/**
 * Reads the state and cost of a request. The cost is null while it is unknown, and 0 if the request was released.
 * Throws `not_found` for a request of another user or app.
 */
export const readRequestUsage = async (
  database: Knex,
  requestId: string,
  owner: { userId: string; clientId: string },
): Promise<z.input<typeof requestUsageSchema>> => {
  const request = await findRequestByOwner(database, requestId, owner);
  if (request === undefined) throw new AppError('not_found');
  const { state, costMicros, paidBy, createdAt, endedAt } = request;
  return {
    request_id: requestId,
    ...showState({ state, costMicros }),
    paid_by: paidBy,
    created_at: createdAt.toISOString(),
    settled_at: state === 'settled' ? (endedAt?.toISOString() ?? null) : null,
  };
};

/** Reads the states of an account's API-key requests, in the given order; null for those that have not ended. */
export const readRequestStates = async (
  database: Knex,
  userId: string,
  requestIds: readonly string[],
): Promise<(RequestState | null)[]> => {
  const requests = await listKeyRequestStates(database, userId, requestIds);
  const found = new Map(requests.map((request) => [request.requestId, showState(request)]));
  return requestIds.map((requestId) => found.get(requestId) ?? null);
};

const showState = ({ state, costMicros }: Pick<RequestRecord, 'state' | 'costMicros'>): RequestState => ({
  state,
  cost_micros: state === 'released' ? 0 : costMicros,
});

const DAY_MS = 86_400_000;

/** Reads the use of an account's subscription by UTC day, oldest first, up to today. */
export const readUsageHistory = async (database: Knex, userId: string, days: number): Promise<{ data: DailyUse[] }> => {
  const { today, uses } = await listDayUse(database, userId, days);
  const byDay = Map.groupBy(uses, ({ day }) => day);
  const last = Date.parse(today);
  return {
    data: Array.from({ length: days }, (_, index) => {
      const day = new Date(last - (days - 1 - index) * DAY_MS).toISOString().slice(0, 10);
      return describeDay(day, byDay.get(day) ?? []);
    }),
  };
};

const describeDay = (day: string, uses: readonly DayUse[]): DailyUse => {
  const apps = [...Map.groupBy(uses, ({ clientId }) => clientId)].map(([client_id, of]) => ({ client_id, ...sum(of) }));
  return {
    day,
    ...sum(uses),
    services: {
      chat: sum(uses.filter(({ service }) => service === 'chat')),
      audio_transcription: sum(uses.filter(({ service }) => service === 'audio_transcription')),
    },
    apps: apps.sort((a, b) => b.cost_micros - a.cost_micros).slice(0, USAGE_HISTORY_APPS_MAX),
  };
};

const sum = (uses: readonly DayUse[]): { requests: number; cost_micros: number } => ({
  requests: uses.reduce((total, { requests }) => total + requests, 0),
  cost_micros: uses.reduce((total, { costMicros }) => total + costMicros, 0),
});
