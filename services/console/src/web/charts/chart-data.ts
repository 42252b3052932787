import { csvLine } from '@svc/contracts/csv';
/** Values of one app, model or key, one per day. */
export interface ChartSeries {
  readonly id: string;
  readonly name: string;
  readonly values: readonly number[];
}

/** Values by day, stacked by series, with those of the previous period. */
export interface ChartData {
  /** Start of each day in the reader's calendar, oldest first. */
  readonly days: readonly Date[];
  readonly series: readonly ChartSeries[];
  /** Totals of as many days before; undefined if they are not completely known. */
  readonly before: readonly number[] | undefined;
}

/** Everything that a chart is drawn from. */
export interface ChartProps {
  /** Name of the chart for screen readers and in its picture. */
  readonly label: string;
  readonly data: ChartData;
  /** Formats a value for people. */
  readonly say: (value: number) => string;
  /** Formats a sum for people, rounded. */
  readonly sayRounded: (value: number) => string;
  /** Formats a value for the axis, as short as possible. */
  readonly sayShort: (value: number) => string;
  /** Formats a value for other programs. */
  readonly sayExact: (value: number) => string;
  /** Prefix of the names of saved files. */
  readonly fileName: string;
}

/** More colors would be hard to distinguish. */
const SERIES_MAX = 5;

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Sorts series by their total, largest first, and combines those without a color under one name. */
export const limitSeries = (series: readonly ChartSeries[], othersName: string): ChartSeries[] => {
  const sorted = series.toSorted((a, b) => sum(b.values) - sum(a.values)).filter(({ values }) => sum(values) > 0);
  if (sorted.length <= SERIES_MAX + 1) return sorted;
  const others = sorted.slice(SERIES_MAX);
  const values = others[0]?.values.map((_, day) => sum(others.map((one) => one.values[day] ?? 0))) ?? [];
  return [...sorted.slice(0, SERIES_MAX), { id: 'others', name: othersName, values }];
};

/** Returns the total of each day. */
export const totalsOf = ({ days, series }: ChartData): number[] =>
  days.map((_, day) => sum(series.map(({ values }) => values[day] ?? 0)));

/** A day, or a run of days without use, as indexes of the first and last day. */
export interface DayRun {
  readonly first: number;
  readonly last: number;
  readonly isEmpty: boolean;
}

/** Joins adjacent days without use into runs. */
export const joinEmptyDays = (totals: readonly number[]): DayRun[] => {
  const runs: DayRun[] = [];
  for (const [day, total] of totals.entries()) {
    const previous = runs.at(-1);
    const isEmpty = total === 0;
    if (isEmpty && previous?.isEmpty === true) runs[runs.length - 1] = { ...previous, last: day };
    else runs.push({ first: day, last: day, isEmpty });
  }
  return runs;
};

/** Returns the change against the previous period in percent; undefined if that had no use. */
export const percentChange = (total: number, before: number): number | undefined =>
  before === 0 ? undefined : ((total - before) / before) * 100;

/** Returns the day in the reader's calendar: `2026-11-20`. */
export const isoDay = (day: Date): string =>
  [day.getFullYear(), day.getMonth() + 1, day.getDate()].map((part) => String(part).padStart(2, '0')).join('-');

/** Formats all days as CSV, one column per series, the total last. */
export const toCsv = (chart: ChartData, titles: { day: string; total: string }, say: (value: number) => string) => {
  const header = [titles.day, ...chart.series.map(({ name }) => name), titles.total];
  const totals = totalsOf(chart);
  const rows = chart.days.map((day, index) => [
    isoDay(day),
    ...chart.series.map(({ values }) => say(values[index] ?? 0)),
    say(totals[index] ?? 0),
  ]);
  return [header, ...rows].map(csvLine).join('');
};

/** Returns the UTC day of an instant as a date of the reader's calendar, so that the 20th is written as the 20th everywhere. */
export const toCalendarDay = (instant: string): Date => {
  const [year = 0, month = 1, date = 1] = instant.slice(0, 10).split('-').map(Number);
  return new Date(year, month - 1, date);
};

const WEEK_DAYS = 7;

/**
 * Returns the day selected by a key; undefined if the key does not move. Without a selected day, starts at the newest.
 */
export const moveCursor = (key: string, day: number | undefined, count: number): number | undefined => {
  const last = count - 1;
  if (count === 0) return undefined;
  const steps: Readonly<Record<string, number>> = {
    ArrowLeft: -1,
    ArrowRight: 1,
    PageUp: -WEEK_DAYS,
    PageDown: WEEK_DAYS,
    Home: -count,
    End: count,
  };
  const step = steps[key];
  if (step === undefined) return undefined;
  if (day === undefined) return key === 'Home' ? 0 : last;
  return Math.min(last, Math.max(0, day + step));
};
