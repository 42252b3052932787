import type { ItemOf } from '../api/index.ts';
import { type ChartData, type ChartSeries, limitSeries, toCalendarDay } from '../charts/index.ts';
import { RANGE_DAYS, type Range, startOfDay } from './usage-filter.ts';

/** Metadata of one request with an API key. */
export type UsageRecord = ItemOf<'listGatewayUsage'>;

/** Records of a period and of the one before, the newest first, as far as they were read. */
export interface UsageRead {
  readonly records: readonly UsageRecord[];
  /** Older records were left out. */
  readonly isWhole: boolean;
}

/** Shown part of the usage. */
export interface UsageView {
  readonly measure: 'cost' | 'requests' | 'tokens';
  readonly range: Range;
  /** Name of the series that a record belongs to. */
  readonly seriesOf: (record: UsageRecord) => string;
  readonly othersName: string;
}

/** Use by UTC day. */
export interface DailyUsage {
  readonly data: ChartData;
  /** Every record of the period was read. */
  readonly isWhole: boolean;
}

/** Stacks the records of a period by series and day. Compares with the period before if that was read in full. */
export const stackByDay = (read: UsageRead, view: UsageView, now: Date): DailyUsage => {
  const count = RANGE_DAYS[view.range];
  const days = Array.from({ length: count }, (_, index) => startOfDay(now, count - 1 - index));
  const before = Array.from({ length: count }, (_, index) => startOfDay(now, 2 * count - 1 - index));
  const placeOf = new Map(days.map((day, index) => [day.getTime(), index]));
  const placeBefore = new Map(before.map((day, index) => [day.getTime(), index]));
  const series = new Map<string, number[]>();
  const totalsBefore = before.map(() => 0);
  for (const record of read.records) {
    const time = startOfDay(new Date(record.started_at), 0).getTime();
    const place = placeOf.get(time);
    const earlier = placeBefore.get(time);
    const name = view.seriesOf(record);
    if (place !== undefined) {
      const values = series.get(name) ?? days.map(() => 0);
      values[place] = (values[place] ?? 0) + measured(record, view.measure);
      series.set(name, values);
    }
    if (earlier !== undefined) totalsBefore[earlier] = (totalsBefore[earlier] ?? 0) + measured(record, view.measure);
  }
  const stacked = [...series].map(([name, values]): ChartSeries => ({ id: name, name, values }));
  const oldest = read.records.at(-1)?.started_at;
  return {
    data: {
      days: days.map((day) => toCalendarDay(day.toISOString())),
      series: limitSeries(stacked, view.othersName),
      before: read.isWhole ? totalsBefore : undefined,
    },
    isWhole: read.isWhole || (oldest !== undefined && new Date(oldest).getTime() < (days[0]?.getTime() ?? 0)),
  };
};

const measured = (record: UsageRecord, measure: UsageView['measure']): number => {
  switch (measure) {
    case 'requests':
      return 1;
    case 'cost':
      return record.cost_micros ?? 0;
    case 'tokens':
      return (record.input_tokens ?? 0) + (record.output_tokens ?? 0);
  }
};
