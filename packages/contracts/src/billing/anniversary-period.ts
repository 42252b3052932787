/** A half-open span of time: `start` belongs to it, `end` to the next one. */
export interface Period {
  readonly start: Date;
  readonly end: Date;
}

/**
 * Returns the period of this many months that contains `at`, counted from an anchor in UTC. Each period begins on the
 * anchor's day of the month, or on the last day of a shorter month: 31 January, 28 February, 31 March.
 */
export const anniversaryPeriod = (anchor: Date, months: number, at: Date): Period => {
  const monthsAfter = (at.getUTCFullYear() - anchor.getUTCFullYear()) * 12 + at.getUTCMonth() - anchor.getUTCMonth();
  const periods = Math.floor(monthsAfter / months);
  const begun = anniversary(anchor, periods * months) > at ? periods - 1 : periods;
  return { start: anniversary(anchor, begun * months), end: anniversary(anchor, (begun + 1) * months) };
};

const anniversary = (anchor: Date, months: number): Date => {
  const month = anchor.getUTCMonth() + months;
  const daysInMonth = new Date(Date.UTC(anchor.getUTCFullYear(), month + 1, 0)).getUTCDate();
  const date = new Date(anchor);
  date.setUTCFullYear(anchor.getUTCFullYear(), month, Math.min(anchor.getUTCDate(), daysInMonth));
  return date;
};
