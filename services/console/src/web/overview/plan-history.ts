import type { ItemOf } from '../api/index.ts';

/** Use of one UTC day. */
export type DailyUse = ItemOf<'getUsageHistory'>;

/** Periods that can be looked at, in days up to today. */
export const HISTORY_DAYS = { days7: 7, days30: 30, days90: 90 } as const;

/** One of the periods. */
export type HistoryRange = keyof typeof HISTORY_DAYS;

/** Requests and what they cost. */
export interface Use {
  readonly requests: number;
  readonly cost: number;
}

/** The day as the calendar of the person shows it: `2026-11-20` is the 20th wherever it is read. */
export const toCalendarDay = (day: string): Date => {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, date);
};

/** Returns the use of a day through one app, or through all. */
export const useOf = (day: DailyUse, clientId: string | undefined): Use => {
  const { requests, cost_micros } =
    clientId === undefined
      ? day
      : (day.apps.find((app) => app.client_id === clientId) ?? { requests: 0, cost_micros: 0 });
  return { requests, cost: cost_micros };
};

/** Sums the use of each app over all days, the most expensive first. */
export const sumByApp = (days: readonly DailyUse[]): (Use & { clientId: string })[] => {
  const sums = new Map<string, Use & { clientId: string }>();
  for (const { client_id: clientId, requests, cost_micros } of days.flatMap(({ apps }) => apps)) {
    const sum = sums.get(clientId) ?? { clientId, requests: 0, cost: 0 };
    sums.set(clientId, { clientId, requests: sum.requests + requests, cost: sum.cost + cost_micros });
  }
  return [...sums.values()].sort((a, b) => b.cost - a.cost || b.requests - a.requests);
};
