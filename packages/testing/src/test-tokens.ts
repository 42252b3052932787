import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import {
  allInternalRoutes,
  type FoundManagementKey,
  type InternalCaller,
  internalCallers,
  internalRoutes,
  type Membership,
  newId,
  type Role,
} from '@svc/contracts';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

/** Look-ups of the auth service, which other services send to its internal routes. */
export interface AuthStandIn {
  /** Present memberships by their ids. One that is missing has ended. */
  readonly memberships: Map<string, Membership>;
  /** Names of accounts by their ids. */
  readonly names: Map<string, string>;
  /** Management keys by their digests in hex. */
  readonly managementKeys: Map<string, FoundManagementKey>;
  /** Look-ups so far, in their order. */
  readonly lookups: { readonly path: string; readonly ids: readonly string[] }[];
  /** Leaves look-ups without an answer while true. */
  isSilent: boolean;
}

interface ServedAuth {
  readonly jwksUrl: string;
  readonly jwksRequests: () => number;
  readonly auth: AuthStandIn;
  readonly stop: () => Promise<void>;
}

/** Serves the key set and the look-ups on one port. */
const serveAuth = async (keys: () => readonly JWK[]): Promise<ServedAuth> => {
  const auth: AuthStandIn = {
    memberships: new Map(),
    names: new Map(),
    managementKeys: new Map(),
    lookups: [],
    isSilent: false,
  };
  let requests = 0;
  const server = createServer((request, response) => {
    const answer = lookups[request.url ?? ''];
    if (request.method !== 'POST' || answer === undefined) {
      requests += 1;
      response.writeHead(200, { 'content-type': 'application/jwk-set+json' });
      return void response.end(JSON.stringify({ keys: keys() }));
    }
    void json(request).then((body) => {
      if (auth.isSilent) return;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ data: answer(auth, request.url ?? '', body) }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    jwksUrl: `http://127.0.0.1:${port}/v1/integrations/oauth/jwks`,
    jwksRequests: () => requests,
    auth,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

type Lookup = (auth: AuthStandIn, path: string, body: unknown) => readonly unknown[];

const lookups: Readonly<Record<string, Lookup | undefined>> = {
  [internalRoutes.findMemberships.path]: (auth, path, body) => {
    const { ids } = internalRoutes.findMemberships.request.body.schema.parse(body);
    auth.lookups.push({ path, ids });
    return ids.map((id) => auth.memberships.get(id) ?? null);
  },
  [internalRoutes.findManagementKeys.path]: (auth, path, body) => {
    const { digests } = internalRoutes.findManagementKeys.request.body.schema.parse(body);
    auth.lookups.push({ path, ids: digests });
    return digests.map((digest) => auth.managementKeys.get(digest) ?? null);
  },
  [internalRoutes.nameAccounts.path]: (auth, path, body) => {
    const { svc_user_ids: ids } = internalRoutes.nameAccounts.request.body.schema.parse(body);
    auth.lookups.push({ path, ids });
    return ids.map((id) => ({ svc_user_id: id, name: auth.names.get(id) ?? null }));
  },
};

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

/** Returns the credential of a caller of internal routes. */
export const internalCredential = (caller: InternalCaller): string => `${caller}:credential-of-the-tests`;

/** Value of INTERNAL_API_TOKENS that accepts every caller. */
export const internalCredentials = internalCallers.map(internalCredential).join(',');

/** Returns the credential of the first allowed caller of a route. Throws if no internal route has this path. */
export const internalCredentialFor = (method: string, path: string): string => {
  const [bare = ''] = path.split('?', 1);
  const caller = allInternalRoutes.find((route) => route.method === method && templateOf(route.path).test(bare))
    ?.callers?.[0];
  if (caller === undefined) throw new Error(`no internal route answers ${method} ${bare}`);
  return internalCredential(caller);
};

const templateOf = (path: string): RegExp => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
