/** Summary of a series of durations, in the unit of the series. */
export interface Summary {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/**
 * Returns the nearest-rank quantile of an ascending series: a measured value, never an interpolated one. NaN for an
 * empty series.
 */
export const quantile = (ascending: ArrayLike<number>, share: number): number => {
  const rank = Math.ceil(share * ascending.length);
  return ascending[Math.min(Math.max(rank, 1), ascending.length) - 1] ?? Number.NaN;
};

/** Sorts a copy of the series and computes the summary. */
export const summarize = (series: readonly number[]): Summary => {
  const ascending = Float64Array.from(series).sort();
  return {
    count: series.length,
    p50: quantile(ascending, 0.5),
    p99: quantile(ascending, 0.99),
    max: quantile(ascending, 1),
  };
};

/** Returns the median, which one outlier does not move. NaN for an empty series. */
export const median = (series: readonly number[]): number => quantile(Float64Array.from(series).sort(), 0.5);

/** Formats with three significant digits, as an integer from 100. */
export const readable = (value: number): string => {
  if (!Number.isFinite(value)) return '-';
  return Math.abs(value) >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
};

/** Creates a seeded generator of numbers in [0, 1), so that a run can be repeated. */
export const createRandom = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
};
