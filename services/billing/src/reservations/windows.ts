import { anniversaryPeriod, type Period } from '@svc/contracts';

/** Terms from which an account's windows are computed. */
export interface WindowTerms {
  readonly anchor: Date;
  readonly interval: 'month' | 'year';
  readonly period: Period;
}

const WEEK_MS = 7 * 24 * 3600 * 1000;

/** Returns the week of 7 x 24 hours, counted from the anchor, that contains `at`. Same rule as SQL `weekly_window`. */
export const weeklyWindow = (anchor: Date, at: Date): Period => {
  const weeks = Math.floor((at.getTime() - anchor.getTime()) / WEEK_MS);
  const start = anchor.getTime() + weeks * WEEK_MS;
  return { start: new Date(start), end: new Date(start + WEEK_MS) };
};

/** Returns the paid month while it lasts, else the month between anniversaries. Same rule as SQL `monthly_window`. */
export const monthlyWindow = ({ anchor, interval, period }: WindowTerms, at: Date): Period =>
  interval === 'month' && at >= period.start && at < period.end ? period : anniversaryPeriod(anchor, 1, at);

/** Returns the used percentage of a limit, rounded down. 100 means that the limit has been reached. */
export const usedPercent = (usedMicros: number, limitMicros: number): number => {
  if (usedMicros >= limitMicros) return 100;
  return Number((BigInt(usedMicros) * 100n) / BigInt(limitMicros));
};
