import { nice, ticks } from 'd3-array';
import { line, stack } from 'd3-shape';
import { type ChartData, totalsOf } from './chart-data.ts';

/** A bar, in pixels. */
export interface BarShape {
  readonly series: number;
  readonly day: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Positions of all parts, in pixels. */
export interface Frame {
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  /** Width of a day. */
  readonly band: number;
  readonly ticks: readonly { y: number; text: string }[];
  readonly bars: readonly BarShape[];
  /** Path of the totals of the previous period. */
  readonly before: string | undefined;
  readonly labels: readonly { day: number; x: number; anchor: 'start' | 'middle' | 'end' }[];
}

const TICKS = 4;
const TOP = 10;
const AXIS_HEIGHT = 26;
const GAP = 0.25;
const BAR_WIDTH_MAX = 44;
/** Makes a small value distinguishable from none. */
const BAR_HEIGHT_MIN = 1.5;
const CHARACTER_WIDTH = 6.6;
const LABEL_WIDTH = 68;

/** Lays out a chart of this size. */
export const layOut = (
  data: ChartData,
  { width, height, sayShort }: { width: number; height: number; sayShort: (value: number) => string },
): Frame => {
  const highest = Math.max(0, ...totalsOf(data), ...(data.before ?? []));
  const [, ceiling] = nice(0, Math.max(highest, 1), TICKS);
  // Values are integers, so the grid has no line at half a request, nor at the smallest amount if there is none.
  const values = highest === 0 ? [0] : ticks(0, ceiling, TICKS).filter(Number.isInteger);
  const texts = values.map(sayShort);
  const left = Math.ceil(Math.max(0, ...texts.map((text) => text.length)) * CHARACTER_WIDTH) + 10;
  const bottom = height - AXIS_HEIGHT;
  const band = Math.max(0, width - left) / Math.max(1, data.days.length);
  const yOf = (value: number): number => bottom - (value / ceiling) * (bottom - TOP);
  const middleOf = (day: number): number => left + (day + 0.5) * band;
  return {
    width,
    height,
    left,
    right: Math.max(left, width),
    top: TOP,
    bottom,
    band,
    ticks: values.map((value, index) => ({ y: yOf(value), text: texts[index] ?? '' })),
    bars: stackBars(data, { band, yOf, middleOf }),
    before:
      data.before === undefined
        ? undefined
        : (line<number>((_, day) => middleOf(day), yOf)([...data.before]) ?? undefined),
    labels: placeLabels(data.days.length, width - left, middleOf),
  };
};

const stackBars = (
  { days, series }: ChartData,
  { band, yOf, middleOf }: { band: number; yOf: (value: number) => number; middleOf: (day: number) => number },
): BarShape[] => {
  const width = Math.max(1, Math.min(BAR_WIDTH_MAX, band * (1 - GAP)));
  const layers = stack<number, number>()
    .keys(series.keys())
    .value((day, index) => series[index]?.values[day] ?? 0)(days.keys());
  return layers.flatMap((layer) =>
    layer.flatMap(([from, to], day): BarShape[] => {
      if (to === from) return [];
      const height = Math.max(BAR_HEIGHT_MIN, yOf(from) - yOf(to));
      return [{ series: layer.key, day, x: middleOf(day) - width / 2, y: yOf(from) - height, width, height }];
    }),
  );
};

/** Places as many day labels as fit, at even distances and always including the newest. */
const placeLabels = (count: number, width: number, middleOf: (day: number) => number): Frame['labels'] => {
  const last = count - 1;
  const step = Math.max(1, Math.ceil((count * LABEL_WIDTH) / Math.max(LABEL_WIDTH, width)));
  const days = Array.from({ length: count }, (_, day) => day).filter((day) => (last - day) % step === 0);
  const band = width / Math.max(1, count);
  return days.map((day) => {
    const isAtEnd = day === last && band < LABEL_WIDTH;
    return { day, x: isAtEnd ? middleOf(day) + band / 2 : middleOf(day), anchor: isAtEnd ? 'end' : 'middle' };
  });
};
