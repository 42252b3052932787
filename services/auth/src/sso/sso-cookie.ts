import type { Sealer } from '@svc/secrets';
import type { Clock } from '@svc/service-kit';
import { z } from 'zod';
import { MINUTE_MS } from '../time.ts';
import { createSealedCookie, type SealedCookie } from './sealed-cookie.ts';

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
