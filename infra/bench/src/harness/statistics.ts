/** What a series of durations comes to, in the unit of the series. */
export interface Summary {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** The nearest-rank quantile of an ascending series: a value that was measured, never one in between. NaN of an empty one. */
export const quantile = (ascending: ArrayLike<number>, share: number): number => {
  const rank = Math.ceil(share * ascending.length);
  return ascending[Math.min(Math.max(rank, 1), ascending.length) - 1] ?? Number.NaN;
};

/** Sorts a copy of the series and reads what is reported of it. */
export const summarize = (series: readonly number[]): Summary => {
  const ascending = Float64Array.from(series).sort();
  return {
    count: series.length,
    p50: quantile(ascending, 0.5),
    p99: quantile(ascending, 0.99),
    max: quantile(ascending, 1),
  };
};

/** The middle one, which one disturbed round does not move. NaN of an empty series. */
export const median = (series: readonly number[]): number => quantile(Float64Array.from(series).sort(), 0.5);

/** Three significant digits, whole from a hundred on. */
export const readable = (value: number): string => {
  if (!Number.isFinite(value)) return '-';
  return Math.abs(value) >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
};
