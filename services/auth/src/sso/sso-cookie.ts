import { z } from 'zod';
import { type Clock, later, MINUTE_MS, SECOND_MS } from '../clock.ts';
import { SealBroken, seal, unseal } from '../encryption-key.ts';
import { readCookie } from '../sessions/index.ts';
import type { SsoChecks } from './upstream-provider.ts';

const NAME = 'svc_sso';
const PATH = '/v1/console/sso';
/** How long somebody may take at the OpenID provider. */
const ATTEMPT_MS = 10 * MINUTE_MS;
const SEAL_CONTEXT = 'sso-attempt';

/** A sign-in that this browser has begun. */
export interface SsoAttempt extends SsoChecks {
  returnTo: string;
}

/** The cookie that ties an answer of the provider to the browser that asked (RFC 9700 section 4.7). */
export interface SsoCookie {
  /** `Set-Cookie` header for an attempt. */
  make: (attempt: SsoAttempt) => string;
  /** `Set-Cookie` header that forgets it: an attempt has one answer. */
  clear: () => string;
  /** The attempt of a `Cookie` header; undefined where there is none of ours, or it took too long. */
  read: (header: string | undefined) => SsoAttempt | undefined;
}

const payloadSchema = z.object({
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  returnTo: z.string(),
  expires: z.number(),
});

/** Makes and reads the cookie, sealed with `key`: the browser holds the verifier but cannot read it. */
export const createSsoCookie = (deps: { key: Buffer; clock: Clock; publicBaseUrl: string }): SsoCookie => {
  const { key, clock } = deps;
  const secure = deps.publicBaseUrl.startsWith('https:') ? '; Secure' : '';
  const header = (value: string, seconds: number): string =>
    `${NAME}=${value}; Path=${PATH}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
  return {
    make: (attempt) => {
      const payload = JSON.stringify({ ...attempt, expires: later(clock(), ATTEMPT_MS).getTime() });
      return header(seal(key, Buffer.from(payload), SEAL_CONTEXT).toString('base64url'), ATTEMPT_MS / SECOND_MS);
    },
    clear: () => header('', 0),
    read: (cookies) => {
      const value = readCookie(cookies, NAME);
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
