import type { Clock } from '@svc/service-kit';
import { z } from 'zod';
import { type Cookie, clearCookie, readCookie, setCookie } from '../cookie.ts';
import { SealBroken, seal, unseal } from '../encryption-key.ts';
import { later, MINUTE_MS, SECOND_MS } from '../time.ts';
import type { SsoChecks } from './upstream-provider.ts';

const COOKIE: Cookie = { name: 'svc_sso', path: '/v1/console/sso', sameSite: 'Lax' };
/** Time limit at the OpenID provider. */
const ATTEMPT_MS = 10 * MINUTE_MS;
const SEAL_CONTEXT = 'sso-attempt';

/** A sign-in started by this browser. */
export interface SsoAttempt extends SsoChecks {
  readonly returnTo: string;
}

/** Cookie that binds a provider's answer to the browser that started the sign-in (RFC 9700 section 4.7). */
export interface SsoCookie {
  /** Returns the `Set-Cookie` header that stores an attempt. */
  readonly make: (attempt: SsoAttempt) => string;
  /** Returns the `Set-Cookie` header that deletes it: an attempt has one answer. */
  readonly clear: () => string;
  /** Returns the attempt in a `Cookie` header; undefined if it is missing, invalid or expired. */
  readonly read: (header: string | undefined) => SsoAttempt | undefined;
}

const payloadSchema = z.object({
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  returnTo: z.string(),
  expires: z.number(),
});

/** Creates the cookie, sealed with `key`: the browser stores the verifier but cannot read it. */
export const createSsoCookie = (deps: { key: Buffer; clock: Clock; publicBaseUrl: string }): SsoCookie => {
  const { key, clock, publicBaseUrl } = deps;
  return {
    make: (attempt) => {
      const payload = JSON.stringify({ ...attempt, expires: later(clock(), ATTEMPT_MS).getTime() });
      const value = seal(key, Buffer.from(payload), SEAL_CONTEXT).toString('base64url');
      return setCookie(COOKIE, { value, maxAgeSeconds: ATTEMPT_MS / SECOND_MS, publicBaseUrl });
    },
    clear: () => clearCookie(COOKIE, publicBaseUrl),
    read: (cookies) => {
      const value = readCookie(COOKIE, cookies, publicBaseUrl);
      const payload = value === undefined ? undefined : open(key, value);
      return payload === undefined || payload.expires <= clock().getTime() ? undefined : payload;
    },
  };
};

const open = (key: Buffer, value: string): z.infer<typeof payloadSchema> | undefined => {
  try {
    return payloadSchema.parse(JSON.parse(unseal(key, Buffer.from(value, 'base64url'), SEAL_CONTEXT).toString()));
  } catch (error) {
    if (error instanceof SealBroken) return undefined;
    throw error;
  }
};
