import { SealBroken, type Sealer } from '@svc/secrets';
import type { Clock } from '@svc/service-kit';
import { z } from 'zod';
import { type Cookie, clearCookie, readCookie, setCookie } from '../cookies-and-origins.ts';
import { later, MINUTE_MS, SECOND_MS } from '../time.ts';

/** A cookie with content that its browser keeps but cannot read or change. */
interface SealedCookie<T> {
  /** Returns the `Set-Cookie` header that stores the content. */
  readonly make: (content: T) => string;
  /** Returns the `Set-Cookie` header that deletes it. */
  readonly clear: () => string;
  /** Returns the content in a `Cookie` header; undefined if it is missing, invalid or expired. */
  readonly read: (header: string | undefined) => T | undefined;
}

interface SealedCookieOptions<T> {
  readonly cookie: Cookie;
  readonly schema: z.ZodType<T>;
  readonly lifeMs: number;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly publicBaseUrl: string;
}

/** Creates a cookie whose name is also the context of its seal, so that no value moves to another cookie. */
const createSealedCookie = <T>(options: SealedCookieOptions<T>): SealedCookie<T> => {
  const { cookie, schema, lifeMs, sealer, clock, publicBaseUrl } = options;
  const envelope = z.object({ content: schema, expires: z.number() });
  const open = (value: string) => {
    try {
      return envelope.parse(JSON.parse(sealer.unseal(Buffer.from(value, 'base64url'), cookie.name).toString()));
    } catch (error) {
      if (error instanceof SealBroken) return undefined;
      throw error;
    }
  };
  return {
    make: (content) => {
      const payload = JSON.stringify({ content, expires: later(clock(), lifeMs).getTime() });
      const value = sealer.seal(Buffer.from(payload), cookie.name).toString('base64url');
      return setCookie(cookie, { value, maxAgeSeconds: lifeMs / SECOND_MS, publicBaseUrl });
    },
    clear: () => clearCookie(cookie, publicBaseUrl),
    read: (cookies) => {
      const value = readCookie(cookie, cookies, publicBaseUrl);
      const opened = value === undefined ? undefined : open(value);
      return opened === undefined || opened.expires <= clock().getTime() ? undefined : opened.content;
    },
  };
};

/** Time limit at the OpenID provider. */
const ATTEMPT_MS = 10 * MINUTE_MS;
/** Time limit for proving an account. */
const PENDING_LINK_MS = 30 * MINUTE_MS;

const attemptSchema = z.object({
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  isFresh: z.boolean(),
  returnTo: z.string(),
  linkTo: z
    .object({ userId: z.string(), sessionId: z.string() })
    .optional()
    .describe('Session whose account the identity is to be linked to; undefined for a sign-in.'),
});

/** A sign-in started by this browser. */
export type SsoAttempt = z.infer<typeof attemptSchema>;

const pendingLinkSchema = z.object({
  issuer: z.string(),
  subject: z.string(),
  userId: z.string(),
  email: z.string(),
  returnTo: z.string(),
});

/** An identity, proven in this browser, whose owner has yet to prove the account with the same address. */
export type PendingLink = z.infer<typeof pendingLinkSchema>;

export interface SsoCookies {
  /** Binds a provider's answer to the browser that started the sign-in (RFC 9700 section 4.7). */
  readonly attempt: SealedCookie<SsoAttempt>;
  readonly pendingLink: SealedCookie<PendingLink>;
}

/** Creates the cookies of single sign-on. */
export const createSsoCookies = (deps: { sealer: Sealer; clock: Clock; publicBaseUrl: string }): SsoCookies => ({
  attempt: createSealedCookie({
    ...deps,
    cookie: { name: 'svc_sso', path: '/v1/console/sso', sameSite: 'Lax' },
    schema: attemptSchema,
    lifeMs: ATTEMPT_MS,
  }),
  pendingLink: createSealedCookie({
    ...deps,
    cookie: { name: 'svc_sso_link', path: '/sign-in', sameSite: 'Lax' },
    schema: pendingLinkSchema,
    lifeMs: PENDING_LINK_MS,
  }),
});
