import { randomBytes } from 'node:crypto';
import { digestOpaqueValue } from './opaque-value.ts';

/** Lets scanners recognize a leaked token. */
const PREFIX = 'svc_rt_';
const GRANT_PREFIX = 'grt_';
const FAMILY_BYTES = 16;
const SECRET_BYTES = 32;
const TOKEN = /^(svc_rt_([0-9a-z]{26})[A-Za-z0-9_-]{22})[A-Za-z0-9_-]{43}$/;

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
  return withSecret(PREFIX + body + randomBytes(FAMILY_BYTES).toString('base64url'));
};

/** Returns the token that replaces one of the same grant. */
export const nextRefreshToken = (token: string): string => withSecret(TOKEN.exec(token)?.[1] ?? '');

const withSecret = (family: string): string => family + randomBytes(SECRET_BYTES).toString('base64url');

/** Digests a token. Returns undefined for text that is no refresh token. */
export const digestRefreshToken = (token: string): RefreshTokenDigests | undefined => {
  const [, family, body] = TOKEN.exec(token) ?? [];
  if (family === undefined || body === undefined) return undefined;
  return { grantId: GRANT_PREFIX + body, family: digestOpaqueValue(family), digest: digestOpaqueValue(token) };
};
