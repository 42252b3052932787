import type { ItemOf } from '../api/index.ts';
import { type ChartData, type ChartSeries, limitSeries, toCalendarDay } from '../charts/index.ts';

/** Use of one UTC day. */
export type DailyUse = ItemOf<'getUsageHistory'>;

/** Selectable periods, in days up to today. */
export const HISTORY_DAYS = { days7: 7, days30: 30, days90: 90 } as const;

/** One of the periods. */
export type HistoryRange = keyof typeof HISTORY_DAYS;

/** Requests and their cost. */
export interface Use {
  readonly requests: number;
  readonly cost: number;
}

/** Returns the use of a day through one app or all. */
export const useOf = (day: DailyUse, clientId: string | undefined): Use => {
  const { requests, cost_micros } =
    clientId === undefined
      ? day
      : (day.apps.find((app) => app.client_id === clientId) ?? { requests: 0, cost_micros: 0 });
  return { requests, cost: cost_micros };
};

/** Part of the history that a chart shows. */
export interface HistoryView {
  readonly measure: 'cost' | 'requests';
  /** Undefined for all apps. */
  readonly clientId: string | undefined;
}

/** Names of the series in a chart. */
export interface HistoryNames {
  /** Names of connected apps, by client id. */
  readonly apps: ReadonlyMap<string, string>;
  readonly former: string;
  readonly others: string;
}

/** Splits days into the previous and the current period, and stacks the latter by app. Former apps share a series. */
export const toChartData = (
  days: readonly DailyUse[],
  { measure, clientId }: HistoryView,
  { apps, former, others }: HistoryNames,
): ChartData => {
  const shown = laterHalf(days);
  const valuesOf = (id: string): number[] => shown.map((day) => useOf(day, id)[measure]);
  const totals = shown.map((day) => useOf(day, clientId)[measure]);
  const connected = [...apps].map(([id, name]): ChartSeries => ({ id, name, values: valuesOf(id) }));
  const rest = totals.map((total, day) => connected.reduce((left, { values }) => left - (values[day] ?? 0), total));
  const series =
    clientId === undefined
      ? limitSeries([...connected, { id: 'former', name: former, values: rest }], others)
      : [{ id: clientId, name: apps.get(clientId) ?? former, values: totals }];
  return {
    days: shown.map(({ day }) => toCalendarDay(day)),
    series,
    before: days.slice(0, days.length - shown.length).map((day) => useOf(day, clientId)[measure]),
  };
};

/** Returns the current period of days that include the previous one. */
export const laterHalf = (days: readonly DailyUse[]): readonly DailyUse[] => days.slice(Math.floor(days.length / 2));

/** Sums the use of each app over all days, the most expensive first. */
export const sumByApp = (days: readonly DailyUse[]): (Use & { clientId: string })[] => {
  const sums = new Map<string, Use & { clientId: string }>();
  for (const { client_id: clientId, requests, cost_micros } of days.flatMap(({ apps }) => apps)) {
    const sum = sums.get(clientId) ?? { clientId, requests: 0, cost: 0 };
    sums.set(clientId, { clientId, requests: sum.requests + requests, cost: sum.cost + cost_micros });
  }
  return [...sums.values()].sort((a, b) => b.cost - a.cost || b.requests - a.requests);
};
