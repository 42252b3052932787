/** A half-open span of time: `start` belongs to it, `end` to the next one. */
export interface Window {
  readonly start: Date;
  readonly end: Date;
}

/** What the windows of an account follow from. */
export interface WindowTerms {
  readonly anchor: Date;
  readonly interval: 'month' | 'year';
  readonly period: Window;
}

const WEEK_MS = 7 * 24 * 3600 * 1000;

/** Consecutive 7 x 24 hours from the anchor. The same rule as the database function `weekly_window`. */
export const weeklyWindow = (anchor: Date, at: Date): Window => {
  const weeks = Math.floor((at.getTime() - anchor.getTime()) / WEEK_MS);
  const start = anchor.getTime() + weeks * WEEK_MS;
  return { start: new Date(start), end: new Date(start + WEEK_MS) };
};

/** The paid month while it lasts, otherwise the monthly anniversaries. The same rule as `monthly_window`. */
export const monthlyWindow = ({ anchor, interval, period }: WindowTerms, at: Date): Window => {
  if (interval === 'month' && at >= period.start && at < period.end) return period;
  const months = (at.getUTCFullYear() - anchor.getUTCFullYear()) * 12 + at.getUTCMonth() - anchor.getUTCMonth();
  const begun = monthlyAnniversary(anchor, months) > at ? months - 1 : months;
  return { start: monthlyAnniversary(anchor, begun), end: monthlyAnniversary(anchor, begun + 1) };
};

/** The anchor's day so many months later in UTC, clamped at month ends. The same rule as `monthly_anniversary`. */
export const monthlyAnniversary = (anchor: Date, months: number): Date => {
  const month = anchor.getUTCMonth() + months;
  const daysInMonth = new Date(Date.UTC(anchor.getUTCFullYear(), month + 1, 0)).getUTCDate();
  const date = new Date(anchor);
  date.setUTCFullYear(anchor.getUTCFullYear(), month, Math.min(anchor.getUTCDate(), daysInMonth));
  return date;
};

/** Percent of a limit that is used, rounded down: 100 means reached, and nothing less does. */
export const usedPercent = (usedMicros: number, limitMicros: number): number => {
  if (usedMicros >= limitMicros) return 100;
  return Number((BigInt(usedMicros) * 100n) / BigInt(limitMicros));
};
