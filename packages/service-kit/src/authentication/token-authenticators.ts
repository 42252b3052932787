import { localeSchema, roles } from '@svc/contracts';
import { errors, jwtVerify } from 'jose';
import { z } from 'zod';
import { AppError } from '../app-error.ts';
import { type Clock, systemClock } from '../clock.ts';
import type { InternalClient } from '../create-internal-client.ts';
import type {
  AccessTokenCaller,
  ActingFor,
  Authenticate,
  ConsoleSessionCaller,
  ManagementKeyCaller,
} from '../http/binding.ts';
import type { Logger } from '../logging/create-logger.ts';
import { createKeySet, type KeySet } from './key-set.ts';
import { createManagementKeyAuthenticator, managementKeyText } from './management-keys.ts';
import { createMembershipResolver } from './memberships.ts';
import { createPossessionCheck } from './proof-of-possession.ts';
import type { RevocationView } from './revocation-view.ts';
import { createVerifiedTokenCache, type VerifiedTokenCache } from './verified-token-cache.ts';

export interface TokenAuthenticatorsOptions {
  /** PUBLIC_BASE_URL: the issuer. The audiences are `/v1` and `/v1/console` below it. */
  readonly publicBaseUrl: string;
  readonly jwksUrl: string;
  readonly revocations: RevocationView;
  /** Client of the internal routes of auth, which knows the management keys. */
  readonly auth: Pick<InternalClient, 'call'>;
  readonly clock?: Clock;
  readonly logger?: Logger;
  /** Cached verified tokens, for each kind. */
  readonly cacheEntriesMax?: number;
  /** Minimum time between two fetches of the key set. */
  readonly keySetCooldownMs?: number;
}

/** Authenticators for the credentials that auth issues. Management keys are accepted in place of a session. */
export interface TokenAuthenticators {
  readonly console_session: Authenticate<ConsoleSessionCaller | ManagementKeyCaller>;
  readonly oauth_access_token: Authenticate<AccessTokenCaller>;
}

/** `typ` of console session tokens. The signer uses it too. */
export const CONSOLE_SESSION_TOKEN_TYPE = 'svc-session+jwt';
/** RFC 9068 section 2.1. */
export const ACCESS_TOKEN_TYPE = 'at+jwt';

/** Returns the audience of console session tokens. */
export const consoleAudience = (publicBaseUrl: string): string => `${publicBaseUrl}/v1/console`;
/** Returns the audience of access tokens (RFC 9068 section 2.2). */
export const accessTokenAudience = (publicBaseUrl: string): string => `${publicBaseUrl}/v1`;

const ALGORITHMS = ['ES256', 'EdDSA'];
const CACHE_ENTRIES_MAX = 20_000;

const sessionClaims = z.object({
  sub: z.string().min(1),
  sid: z.string().min(1),
  account_type: z.enum(['personal', 'business']),
  // A release without `auth_time` issues a token at sign-in only.
  auth_time: z.number().optional(),
  iat: z.number(),
  email_unverified: z.boolean().optional(),
  locale: localeSchema.optional().catch(undefined),
  /** Organization that the person acts for. A business account without it is the owner of itself. */
  org: z
    .object({ id: z.string().min(1), membership: z.string().min(1), role: z.enum(roles), version: z.int() })
    .optional(),
  exp: z.number(),
});

const accessTokenClaims = z.object({
  sub: z.string().min(1),
  client_id: z.string().min(1),
  grant_id: z.string().min(1),
  scope: z.string(),
  jti: z.string().min(1),
  exp: z.number(),
  // A token bound by an unknown method is refused.
  cnf: z.object({ jkt: z.string().min(1) }).optional(),
});

/**
 * Verifies tokens locally against the issuer's cached keys. Signature and claims are checked once per token and
 * process; expiry and revocation on every use.
 */
export const createTokenAuthenticators = (options: TokenAuthenticatorsOptions): TokenAuthenticators => {
  const clock = options.clock ?? systemClock;
  const { publicBaseUrl, revocations } = options;
  const resolveMembership = createMembershipResolver({ auth: options.auth, revocations, clock });
  const verifyManagementKey = createManagementKeyAuthenticator({ auth: options.auth, revocations, clock });
  const keySet = createKeySet({
    url: options.jwksUrl,
    clock,
    ...(options.logger === undefined ? {} : { logger: options.logger }),
    ...(options.keySetCooldownMs === undefined ? {} : { cooldownMs: options.keySetCooldownMs }),
  });
  const shared = { keySet, clock, issuer: publicBaseUrl, entriesMax: options.cacheEntriesMax ?? CACHE_ENTRIES_MAX };
  const verifySession = createVerifier({
    ...shared,
    type: CONSOLE_SESSION_TOKEN_TYPE,
    audience: consoleAudience(publicBaseUrl),
    toCaller: toSessionCaller,
  });
  const verifyAccessToken = createVerifier({
    ...shared,
    type: ACCESS_TOKEN_TYPE,
    audience: accessTokenAudience(publicBaseUrl),
    toCaller: toAccessTokenCaller,
  });
  const checkPossession = createPossessionCheck({ publicBaseUrl, clock });
  return {
    console_session: async (token) => {
      if (token.startsWith(managementKeyText.prefix)) return await verifyManagementKey(token);
      const caller = await verifySession(token);
      const credential = { sessionId: caller.sessionId, userId: caller.personId };
      const refreshing = revocations.refreshIfStale(credential);
      if (refreshing !== undefined) await refreshing;
      if (revocations.isRevoked(credential)) throw new AppError('invalid_token');
      const { organization } = caller;
      // A deleted organization ends the tokens that act for it.
      const isOther = organization !== null && organization.id !== caller.personId;
      if (isOther && revocations.isRevoked({ ...credential, userId: organization.id })) {
        throw new AppError('invalid_token');
      }
      const isVerifiedSince = caller.isEmailUnverified === true && revocations.isVerified?.(caller.personId) === true;
      return {
        ...caller,
        organization: organization === null ? null : await resolveMembership(organization),
        isEmailUnverified: caller.isEmailUnverified === true && !isVerifiedSince,
      };
    },
    oauth_access_token: async (token, presentation) => {
      const caller = await verifyAccessToken(token);
      await checkPossession({ token, keyThumbprint: caller.keyThumbprint, presentation });
      const credential = { grantId: caller.grantId, clientId: caller.clientId };
      const refreshing = revocations.refreshIfStale(credential);
      if (refreshing !== undefined) await refreshing;
      if (revocations.isRevoked(credential)) throw new AppError('invalid_token');
      return caller;
    },
  };
};

const toSessionCaller = (payload: unknown): ConsoleSessionCaller | undefined => {
  const claims = sessionClaims.safeParse(payload);
  if (!claims.success) return undefined;
  const { sub, sid, account_type, auth_time, iat, email_unverified, locale, org, exp } = claims.data;
  const isOwnOrganization = org === undefined && account_type === 'business';
  return {
    kind: 'console_session',
    userId: sub,
    personId: sub,
    organization: isOwnOrganization ? ownOrganization(sub) : toActingFor(org),
    sessionId: sid,
    accountType: account_type,
    authenticatedAt: new Date((auth_time ?? iat) * 1000),
    isEmailUnverified: email_unverified === true,
    ...(locale === undefined ? {} : { locale }),
    expiresAt: new Date(exp * 1000),
  };
};

/** Returns the organization that a business account without a named membership is. */
const ownOrganization = (userId: string): ActingFor => ({ id: userId, role: 'owner', membershipId: null, version: 0 });

const toActingFor = (org: z.infer<typeof sessionClaims>['org']): ActingFor | null =>
  org === undefined ? null : { id: org.id, role: org.role, membershipId: org.membership, version: org.version };

const toAccessTokenCaller = (payload: unknown): AccessTokenCaller | undefined => {
  const claims = accessTokenClaims.safeParse(payload);
  if (!claims.success) return undefined;
  const { sub, client_id, grant_id, scope, jti, exp, cnf } = claims.data;
  return {
    kind: 'oauth_access_token',
    userId: sub,
    clientId: client_id,
    grantId: grant_id,
    scopes: new Set(scope.split(' ').filter((name) => name !== '')),
    tokenId: jti,
    expiresAt: new Date(exp * 1000),
    ...(cnf === undefined ? {} : { keyThumbprint: cnf.jkt }),
  };
};

interface VerifierOptions<C> {
  readonly keySet: KeySet;
  readonly clock: Clock;
  readonly issuer: string;
  readonly type: string;
  readonly audience: string;
  readonly entriesMax: number;
  /** Returns undefined if the claims do not match this kind of token. */
  readonly toCaller: (payload: unknown) => C | undefined;
}

const createVerifier = <C extends { expiresAt: Date }>(
  options: VerifierOptions<C>,
): ((token: string) => Promise<C>) => {
  const cache: VerifiedTokenCache<C> = createVerifiedTokenCache({
    entriesMax: options.entriesMax,
    clock: options.clock,
    isKeyCurrent: options.keySet.has,
  });
  return async (token) => {
    const known = cache.get(token);
    if (known !== undefined) return known;
    const { caller, keyId } = await verify(token, options);
    cache.set(token, { value: caller, expiresAtMs: caller.expiresAt.getTime(), keyId });
    return caller;
  };
};

const verify = async <C>(token: string, options: VerifierOptions<C>): Promise<{ caller: C; keyId: string }> => {
  try {
    const { payload, protectedHeader } = await jwtVerify(token, options.keySet.resolve, {
      algorithms: ALGORITHMS,
      typ: options.type,
      issuer: options.issuer,
      audience: options.audience,
      requiredClaims: ['sub', 'exp', 'iat'],
      currentDate: options.clock(),
    });
    const caller = options.toCaller(payload);
    const keyId = protectedHeader.kid;
    if (caller === undefined || keyId === undefined) throw new AppError('invalid_token');
    return { caller, keyId };
  } catch (error) {
    if (error instanceof AppError) throw error;
    // Any fault that jose finds is the caller's. The response gives no reason.
    if (error instanceof errors.JOSEError || error instanceof TypeError) {
      throw new AppError('invalid_token', undefined, { cause: error });
    }
    throw error;
  }
};
