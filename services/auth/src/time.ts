export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** Returns the time this many milliseconds later. */
export const later = (time: Date, milliseconds: number): Date => new Date(time.getTime() + milliseconds);

/** Returns whole Unix seconds, rounded down (RFC 7519 NumericDate). */
export const toUnixSeconds = (time: Date): number => Math.floor(time.getTime() / SECOND_MS);
