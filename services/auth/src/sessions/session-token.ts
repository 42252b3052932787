import type { AccountType } from '@svc/contracts';
import { AppError, type Clock, CONSOLE_SESSION_TOKEN_TYPE, consoleAudience } from '@svc/service-kit';
import { errors, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import type { AccountRecord } from '../accounts/index.ts';
import type { ActingMembership } from '../memberships.ts';
import { type KeyRing, SIGNING_ALGORITHM } from '../signing-keys.ts';
import { toUnixSeconds } from '../time.ts';
import { SESSION_SECONDS, type SessionRecord, tokenExpiryOf } from './session.ts';

export interface SessionTokenDeps {
  readonly keys: KeyRing;
  readonly publicBaseUrl: string;
  readonly clock: Clock;
  /** Time without use after which a session ends. */
  readonly sessionIdleMs: number;
  /** If true, the tokens of accounts without a confirmed address contain `email_unverified`. */
  readonly isVerificationRequired: boolean;
}

/** Claims of a valid session token. */
export interface SessionClaims {
  readonly userId: string;
  readonly sessionId: string;
  readonly accountType: AccountType;
  readonly authenticatedAt: Date;
  readonly isEmailUnverified: boolean;
  readonly expiresAt: Date;
}

/** A session token, shown to its owner only; never stored. */
export interface SignedSessionToken {
  readonly token: string;
  readonly tokenExpiresAt: Date;
}

/** Person of a session, and the organization that they act for. */
export interface TokenSubject {
  readonly account: AccountRecord;
  readonly acting: ActingMembership | null;
}

const claimsSchema = z.object({
  sub: z.string(),
  sid: z.string(),
  account_type: z.enum(['personal', 'business']),
  // A release without `auth_time` issues a token at sign-in only.
  auth_time: z.number().optional(),
  iat: z.number(),
  email_unverified: z.boolean().optional(),
  exp: z.number(),
});

/**
 * Signs the token of a session: a JWT with a separate type and audience, so that no access token is accepted for it.
 */
export const signSessionToken = async (
  deps: SessionTokenDeps,
  session: SessionRecord,
  { account, acting }: TokenSubject,
): Promise<SignedSessionToken> => {
  const { accountType, emailVerifiedAt, locale } = account;
  const expiresAt = tokenExpiryOf(session, { now: deps.clock(), idleMs: deps.sessionIdleMs });
  const key = deps.keys.active();
  const claims = {
    sid: session.id,
    account_type: acting === null ? accountType : 'business',
    locale,
    ...(acting === null ? {} : { org: toOrgClaim(acting) }),
    auth_time: toUnixSeconds(session.authenticatedAt),
    ...(deps.isVerificationRequired && emailVerifiedAt === null ? { email_unverified: true } : {}),
  };
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: SIGNING_ALGORITHM, typ: CONSOLE_SESSION_TOKEN_TYPE, kid: key.kid })
    .setIssuer(deps.publicBaseUrl)
    .setAudience(consoleAudience(deps.publicBaseUrl))
    .setSubject(session.userId)
    .setIssuedAt(toUnixSeconds(session.createdAt))
    .setExpirationTime(toUnixSeconds(expiresAt))
    .sign(key.privateKey);
  return { token, tokenExpiresAt: expiresAt };
};

const toOrgClaim = ({ organizationId, membershipId, role, version }: ActingMembership) => ({
  id: organizationId,
  membership: membershipId,
  role,
  version,
});

/**
 * Checks signature, type, issuer and audience. Callers check the stored session, which decides about expiry. Throws
 * `invalid_token`.
 */
export const readSessionToken = async (deps: SessionTokenDeps, token: string): Promise<SessionClaims> => {
  try {
    const { payload } = await jwtVerify(token, deps.keys.resolve, {
      algorithms: [SIGNING_ALGORITHM],
      typ: CONSOLE_SESSION_TOKEN_TYPE,
      issuer: deps.publicBaseUrl,
      audience: consoleAudience(deps.publicBaseUrl),
      requiredClaims: ['sub', 'exp', 'iat'],
      currentDate: deps.clock(),
      // Other services refuse an expired token. Here it still identifies its session.
      clockTolerance: SESSION_SECONDS,
    });
    const { sub, sid, account_type, auth_time, iat, email_unverified, exp } = claimsSchema.parse(payload);
    return {
      userId: sub,
      sessionId: sid,
      accountType: account_type,
      authenticatedAt: new Date((auth_time ?? iat) * 1000),
      isEmailUnverified: email_unverified === true,
      expiresAt: new Date(exp * 1000),
    };
  } catch (error) {
    const isTokenFault = error instanceof errors.JOSEError || error instanceof TypeError || error instanceof z.ZodError;
    if (isTokenFault) throw new AppError('invalid_token', undefined, { cause: error });
    throw error;
  }
};
