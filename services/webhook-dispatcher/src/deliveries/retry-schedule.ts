export interface RetrySchedule {
  /** Length of the first step, milliseconds. */
  readonly baseMs: number;
  /** In [0, 1). */
  readonly random: () => number;
}

const FACTOR = 4;
const JITTER = 0.2;

/**
 * Returns the milliseconds from the end of failed attempt number `attempt`, from 1, to the next one: base · 4^(attempt − 1),
 * ±20 %. A receiver may ask for more by `Retry-After`, up to the length of the following step.
 */
export const retryDelayMs = (attempt: number, retryAfterMs: number | undefined, schedule: RetrySchedule): number => {
  const stepMs = schedule.baseMs * FACTOR ** (attempt - 1);
  const jitteredMs = stepMs * (1 - JITTER + 2 * JITTER * schedule.random());
  const askedMs = Math.min(retryAfterMs ?? 0, stepMs * FACTOR);
  return Math.round(Math.max(jitteredMs, askedMs));
};

/**
 * Parses a `Retry-After` header (RFC 9110 section 10.2.3: seconds, or a date) to milliseconds from now. Returns undefined if it
 * is absent or malformed.
 */
export const parseRetryAfter = (value: string | undefined, now: Date): number | undefined => {
  if (value === undefined) return undefined;
  const text = value.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const dateMs = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - now.getTime());
};
