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
