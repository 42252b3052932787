import { type Labels, labelsKey } from './series.ts';

/** One element of an instant vector. */
export interface Element {
  readonly labels: Labels;
  readonly value: number;
}

/** Values of one series within a range that ends at `end`, in seconds; oldest first, at least one. */
export interface RangeElement {
  readonly labels: Labels;
  readonly points: readonly { readonly at: number; readonly value: number }[];
}

/** Range of a range vector. */
export interface Range {
  readonly end: number;
  readonly seconds: number;
}

/** A gap to the range's end beyond this multiple of the sample interval means that the series began or ended there. */
const EXTRAPOLATION_FACTOR = 1.1;

/** `increase`: growth of counters, with resets, extrapolated to the ends of the range like Prometheus. */
export const increase = (elements: readonly RangeElement[], range: Range): Element[] =>
  elements.flatMap(({ labels, points }) => {
    const first = points[0];
    const last = points.at(-1);
    if (first === undefined || last === undefined || points.length < 2) return [];
    const grown = points.reduce((sum, { value }, index) => {
      const before = points[index - 1]?.value ?? value;
      return sum + (value < before ? value : value - before);
    }, 0);
    const span = last.at - first.at;
    const usual = span / (points.length - 1);
    const within = (distance: number) => (distance < usual * EXTRAPOLATION_FACTOR ? distance : usual / 2);
    let toStart = first.at - (range.end - range.seconds);
    // Extrapolation stops at the time at which a counter growing at this rate was zero.
    if (grown > 0 && first.value >= 0) toStart = Math.min(toStart, span * (first.value / grown));
    const extrapolated = span + within(toStart) + within(range.end - last.at);
    return [{ labels, value: grown * (extrapolated / span) }];
  });

/** `rate`: growth of counters per second. */
export const rate = (elements: readonly RangeElement[], range: Range): Element[] =>
  increase(elements, range).map(({ labels, value }) => ({ labels, value: value / range.seconds }));

/** `changes`: number of changes of a value. */
export const changes = (elements: readonly RangeElement[]): Element[] =>
  elements.map(({ labels, points }) => ({
    labels,
    value: points.filter(({ value }, index) => index > 0 && value !== points[index - 1]?.value).length,
  }));

/** `sum`, `max` and `min`, grouped by labels. */
export const aggregate = (
  operation: 'Sum' | 'Max' | 'Min',
  by: readonly string[],
  elements: readonly Element[],
): Element[] => {
  const groups = new Map<string, { labels: Labels; values: number[] }>();
  for (const { labels, value } of elements) {
    const kept = Object.fromEntries(
      by.flatMap((label) => (labels[label] === undefined ? [] : [[label, labels[label]]])),
    );
    const group = groups.get(labelsKey(kept)) ?? { labels: kept, values: [] };
    group.values.push(value);
    groups.set(labelsKey(kept), group);
  }
  return [...groups.values()].map(({ labels, values }) => ({ labels, value: fold(operation, values) }));
};

const fold = (operation: 'Sum' | 'Max' | 'Min', values: readonly number[]): number => {
  if (operation === 'Sum') return values.reduce((sum, value) => sum + value, 0);
  // Any number outranks NaN.
  const numbers = values.filter((value) => !Number.isNaN(value));
  if (numbers.length === 0) return Number.NaN;
  return operation === 'Max' ? Math.max(...numbers) : Math.min(...numbers);
};

/** `histogram_quantile` over cumulative buckets, with linear interpolation within the quantile's bucket. */
export const histogramQuantile = (quantile: number, elements: readonly Element[]): Element[] => {
  const histograms = new Map<string, { labels: Labels; buckets: { le: number; count: number }[] }>();
  for (const { labels, value } of elements) {
    const { le, ...others } = labels;
    if (le === undefined) continue;
    const histogram = histograms.get(labelsKey(others)) ?? { labels: others, buckets: [] };
    histogram.buckets.push({ le: Number(le.replace('+Inf', 'Infinity')), count: value });
    histograms.set(labelsKey(others), histogram);
  }
  return [...histograms.values()].map(({ labels, buckets }) => ({ labels, value: quantileOf(quantile, buckets) }));
};

const quantileOf = (quantile: number, unsorted: readonly { le: number; count: number }[]): number => {
  const buckets = unsorted.toSorted((a, b) => a.le - b.le);
  const total = buckets.at(-1);
  if (total === undefined || total.le !== Number.POSITIVE_INFINITY || buckets.length < 2 || !(total.count > 0)) {
    return Number.NaN;
  }
  const rank = quantile * total.count;
  const place = buckets.findIndex(({ count }) => count >= rank);
  if (place >= buckets.length - 1) return buckets.at(-2)?.le ?? Number.NaN;
  const bucket = buckets[place];
  const before = place === 0 ? { le: 0, count: 0 } : buckets[place - 1];
  if (bucket === undefined || before === undefined) return Number.NaN;
  return before.le + (bucket.le - before.le) * ((rank - before.count) / (bucket.count - before.count));
};
