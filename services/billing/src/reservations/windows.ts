import { anniversaryPeriod, type Period } from '@svc/contracts';

/** The facts from which an account's windows follow. */
export interface WindowTerms {
  readonly anchor: Date;
  readonly interval: 'month' | 'year';
  readonly period: Period;
}

const WEEK_MS = 7 * 24 * 3600 * 1000;

/** Returns the 7 x 24 hours from the anchor that contain `at`. The database function `weekly_window` has the same rule. */
export const weeklyWindow = (anchor: Date, at: Date): Period => {
  const weeks = Math.floor((at.getTime() - anchor.getTime()) / WEEK_MS);
  const start = anchor.getTime() + weeks * WEEK_MS;
  return { start: new Date(start), end: new Date(start + WEEK_MS) };
};

/** Returns the paid month while it lasts, else the month between anniversaries. `monthly_window` has the same rule. */
export const monthlyWindow = ({ anchor, interval, period }: WindowTerms, at: Date): Period =>
  interval === 'month' && at >= period.start && at < period.end ? period : anniversaryPeriod(anchor, 1, at);

/** Returns the used percentage of a limit, rounded down: only a limit that is reached gives 100. */
export const usedPercent = (usedMicros: number, limitMicros: number): number => {
  if (usedMicros >= limitMicros) return 100;
  return Number((BigInt(usedMicros) * 100n) / BigInt(limitMicros));
};
