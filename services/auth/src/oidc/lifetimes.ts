import { DAY_MS, MINUTE_MS } from '../time.ts';

/** Milliseconds that an authorization code lives. */
export const CODE_MS = 5 * MINUTE_MS;
/** Seconds that an access token lives. */
export const ACCESS_TOKEN_SECONDS = 3600;
/** Seconds that a refresh token lives; each use makes a new one, so this counts from the last use. */
export const REFRESH_TOKEN_SECONDS = 30 * 24 * 3600;
/** Time for which an unused code is kept: longer than the pages that could present it again. */
export const UNUSED_CODE_KEPT_MS = DAY_MS;
