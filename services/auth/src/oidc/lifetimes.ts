import { DAY_MS, MINUTE_MS } from '../time.ts';

/** Lifetime of an authorization code, in milliseconds. */
export const CODE_MS = 5 * MINUTE_MS;
/** Lifetime of a device code, in seconds (RFC 8628 section 3.2). */
export const DEVICE_CODE_SECONDS = 600;
/** Shortest time between two polls of a device, in seconds. Each `slow_down` adds as much (RFC 8628 section 3.5). */
export const DEVICE_POLL_SECONDS = 5;
/** Lifetime of an access token, in seconds. */
export const ACCESS_TOKEN_SECONDS = 3600;
/** Lifetime of a refresh token since its last use, in seconds. Each use issues a new one. */
export const REFRESH_TOKEN_SECONDS = 30 * 24 * 3600;
/** Retention of unused codes: longer than the pages that could present them again. */
export const UNUSED_CODE_KEPT_MS = DAY_MS;
