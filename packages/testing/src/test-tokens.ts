import { randomBytes } from 'node:crypto';
import { newId, type Role } from '@svc/contracts';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { type AuthStandIn, serveAuth } from './auth-stand-in.ts';

const SESSION_SECONDS = 12 * 3600;
const ACCESS_TOKEN_SECONDS = 3600;

/** Choices for a token. Everything else has defaults. */
export interface TokenChoices {
  readonly userId?: string | undefined;
  /** Negative for an expired token. */
  readonly expiresInSeconds?: number | undefined;
  /** Override claims, to make an invalid token. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
  readonly typ?: string | undefined;
  /** Signs with a key that is not in the JWKS. */
  readonly unknownKey?: boolean | undefined;
}

export interface SessionChoices extends TokenChoices {
  readonly sessionId?: string | undefined;
  /** Defaults to `business` for a token that acts for an organization, else to `personal`. */
  readonly accountType?: 'personal' | 'business' | undefined;
  /** Organization that the person acts for. */
  readonly organization?: ActingChoices | undefined;
}

/** Membership of a person in the organization of a token. */
export interface ActingChoices {
  readonly id: string;
  readonly role: Role;
  readonly membershipId?: string | undefined;
  readonly version?: number | undefined;
}

export interface AccessTokenChoices extends TokenChoices {
  readonly clientId?: string | undefined;
  readonly grantId?: string | undefined;
  /** Space-separated. Defaults to `inference usage:read`. */
  readonly scope?: string | undefined;
}

/** Stand-in for the auth service: signs tokens, serves the keys, and answers look-ups of memberships and names. */
export interface TestTokens {
  /** Answers of the internal routes, which are at the origin of `jwksUrl`. */
  readonly auth: AuthStandIn;
  readonly publicBaseUrl: string;
  readonly jwksUrl: string;
  /** Number of JWKS requests. */
  readonly jwksRequests: () => number;
  readonly consoleSession: (choices?: SessionChoices) => Promise<string>;
  readonly accessToken: (choices?: AccessTokenChoices) => Promise<string>;
  /** Signs with a new key from now on. The JWKS contains both. */
  readonly rotate: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

interface SigningKey {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

/** Starts a local JWKS server and makes ES256 tokens like the auth service. */
export const testTokens = async (
  options: { publicBaseUrl?: string | undefined; clock?: (() => Date) | undefined } = {},
): Promise<TestTokens> => {
  const publicBaseUrl = options.publicBaseUrl ?? 'http://127.0.0.1:8080';
  const clock = options.clock ?? (() => new Date());
  const keys = [await newSigningKey()];
  const stranger = await newSigningKey();
  const served = await serveAuth(() => keys.map(({ publicJwk }) => publicJwk));
  const sign = async (choices: TokenChoices, defaults: { typ: string; seconds: number; claims: object }) => {
    const key = choices.unknownKey === true ? stranger : (keys.at(-1) ?? stranger);
    const issuedAt = Math.floor(clock().getTime() / 1000);
    const claims = {
      iss: publicBaseUrl,
      iat: issuedAt,
      exp: issuedAt + (choices.expiresInSeconds ?? defaults.seconds),
      sub: choices.userId ?? newId('usr'),
      ...defaults.claims,
      ...choices.claims,
    };
    const header = { alg: 'ES256', typ: choices.typ ?? defaults.typ, kid: key.kid };
    return await new SignJWT(claims).setProtectedHeader(header).sign(key.privateKey);
  };
  return {
    auth: served.auth,
    publicBaseUrl,
    jwksUrl: served.jwksUrl,
    jwksRequests: served.jwksRequests,
    consoleSession: (choices = {}) =>
      sign(choices, {
        typ: 'svc-session+jwt',
        seconds: SESSION_SECONDS,
        claims: sessionClaims(publicBaseUrl, choices),
      }),
    accessToken: (choices = {}) =>
      sign(choices, { typ: 'at+jwt', seconds: ACCESS_TOKEN_SECONDS, claims: accessClaims(publicBaseUrl, choices) }),
    async rotate() {
      keys.push(await newSigningKey());
    },
    stop: served.stop,
  };
};

const sessionClaims = (publicBaseUrl: string, { sessionId, accountType, organization }: SessionChoices): object => ({
  aud: `${publicBaseUrl}/v1/console`,
  sid: sessionId ?? newId('ses'),
  account_type: accountType ?? (organization === undefined ? 'personal' : 'business'),
  ...(organization === undefined ? {} : { org: organizationClaim(organization) }),
});

const organizationClaim = ({ id, role, membershipId = newId('mem'), version = 1 }: ActingChoices): object => ({
  id,
  membership: membershipId,
  role,
  version,
});

const accessClaims = (publicBaseUrl: string, choices: AccessTokenChoices): object => ({
  aud: `${publicBaseUrl}/v1`,
  client_id: choices.clientId ?? newId('app'),
  scope: choices.scope ?? 'inference usage:read',
  grant_id: choices.grantId ?? newId('grt'),
  jti: randomBytes(12).toString('hex'),
});

const newSigningKey = async (): Promise<SigningKey> => {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const kid = randomBytes(8).toString('hex');
  return { kid, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' } };
};
