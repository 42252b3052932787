import type { ItemOf } from '../api/index.ts';
import { type ChartData, type ChartSeries, toCalendarDay } from '../charts/index.ts';

/** Counts of one UTC day. */
export type AppDay = ItemOf<'getAppAnalytics'>;

/** Selectable periods, in days up to today. */
export const RANGE_DAYS = { days7: 7, days30: 30, days90: 90 } as const;

export type Range = keyof typeof RANGE_DAYS;

/** Subject of the chart. */
export type Measure = 'requests' | 'connections' | 'deliveries';

/** Names of the parts of a day. */
export type PartNames = Readonly<Record<'succeeded' | 'failed' | 'connected' | 'accepted' | 'refused', string>>;

const DAY_MS = 86_400_000;

/** Returns the first UTC day of a period and of the one before. */
export const firstDay = (range: Range, now: Date): string =>
  new Date(now.getTime() - (2 * RANGE_DAYS[range] - 1) * DAY_MS).toISOString().slice(0, 10);

const partsOf = (measure: Measure, names: PartNames): readonly (ChartSeries & { of: (day: AppDay) => number })[] => {
  const part = (id: keyof PartNames, of: (day: AppDay) => number) => ({ id, name: names[id], values: [], of });
  switch (measure) {
    case 'requests':
      return [part('succeeded', (day) => day.requests - day.errors), part('failed', (day) => day.errors)];
    case 'connections':
      return [part('connected', (day) => day.connections)];
    case 'deliveries':
      return [
        part('accepted', (day) => day.deliveries - day.deliveries_failed),
        part('refused', (day) => day.deliveries_failed),
      ];
  }
};

/** Stacks the parts of each day. The first half of the days is the period before. */
export const toChartData = (days: readonly AppDay[], measure: Measure, names: PartNames): ChartData => {
  const half = Math.floor(days.length / 2);
  const shown = days.slice(half);
  const parts = partsOf(measure, names);
  return {
    days: shown.map(({ day }) => toCalendarDay(day)),
    series: parts
      .map(({ id, name, of }): ChartSeries => ({ id, name, values: shown.map(of) }))
      .filter(({ values }) => values.some((value) => value > 0)),
    before: days.slice(0, half).map((day) => day[measure]),
  };
};
