/** A second, in milliseconds. */
export const SECOND_MS = 1_000;
/** A minute, in milliseconds. */
export const MINUTE_MS = 60 * SECOND_MS;
/** An hour, in milliseconds. */
export const HOUR_MS = 60 * MINUTE_MS;
/** A day, in milliseconds. */
export const DAY_MS = 24 * HOUR_MS;

/** The instant so many milliseconds later. */
export const later = (time: Date, milliseconds: number): Date => new Date(time.getTime() + milliseconds);

/** Whole Unix seconds, rounded down (RFC 7519 NumericDate). */
export const toUnixSeconds = (time: Date): number => Math.floor(time.getTime() / SECOND_MS);
