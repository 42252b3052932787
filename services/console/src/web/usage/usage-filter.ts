/** Periods that can be looked at, in days up to today. */
export const RANGE_DAYS = { days7: 7, days30: 30, days90: 90 } as const;

/** One of the periods. */
export type Range = keyof typeof RANGE_DAYS;

/** What is looked at. */
export interface UsageFilter {
  /** Empty for all keys. */
  readonly keyId: string;
  readonly range: Range;
}

/** The first instant of a day of the person's own calendar, `days` before that of `now`. */
export const startOfDay = (now: Date, days: number): Date =>
  new Date(now.getFullYear(), now.getMonth(), now.getDate() - days);

/** The part of a query that the filter stands for. It stays the same all day long, so that answers can be remembered. */
export const toQuery = ({ keyId, range }: UsageFilter, now: Date): { from: string; key_id?: string } => ({
  from: startOfDay(now, RANGE_DAYS[range] - 1).toISOString(),
  ...(keyId === '' ? {} : { key_id: keyId }),
});
