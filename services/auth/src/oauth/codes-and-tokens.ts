import { hash, randomBytes } from 'node:crypto';
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

const CODE_BYTES = 32;
/** Lets scanners recognize a leaked code. */
const CODE_PREFIX = 'svc_ac_';

/** Returns a code of 256 random bits, or of the given 32 bytes. */
export const newCode = (bytes: Buffer = randomBytes(CODE_BYTES)): string => CODE_PREFIX + bytes.toString('base64url');

/** Returns the stored digest of a value. */
export const digestOpaqueValue = (value: string): Buffer => hash('sha256', value, 'buffer');

/** Lets scanners recognize a leaked token. */
const REFRESH_TOKEN_PREFIX = 'svc_rt_';
const GRANT_PREFIX = 'grt_';
const FAMILY_BYTES = 16;
const SECRET_BYTES = 32;
const REFRESH_TOKEN = /^(svc_rt_([0-9a-z]{26})[A-Za-z0-9_-]{22})[A-Za-z0-9_-]{43}$/;

/**
 * A refresh token, by what is stored of it. Tokens of a grant begin with the same secret, their family. So a token that
 * was replaced long ago is recognized, although one row per grant is stored, and strangers cannot name the family.
 */
export interface RefreshTokenDigests {
  readonly grantId: string;
  readonly family: Buffer;
  readonly digest: Buffer;
}

/** Returns the first token of a grant. */
export const newRefreshToken = (grantId: string): string => {
  const body = grantId.slice(GRANT_PREFIX.length);
  return withSecret(REFRESH_TOKEN_PREFIX + body + randomBytes(FAMILY_BYTES).toString('base64url'));
};

/** Returns the token that replaces one of the same grant. */
export const nextRefreshToken = (token: string): string => withSecret(REFRESH_TOKEN.exec(token)?.[1] ?? '');

const withSecret = (family: string): string => family + randomBytes(SECRET_BYTES).toString('base64url');

/** Digests a token. Returns undefined for text that is no refresh token. */
export const digestRefreshToken = (token: string): RefreshTokenDigests | undefined => {
  const [, family, body] = REFRESH_TOKEN.exec(token) ?? [];
  if (family === undefined || body === undefined) return undefined;
  return { grantId: GRANT_PREFIX + body, family: digestOpaqueValue(family), digest: digestOpaqueValue(token) };
};
