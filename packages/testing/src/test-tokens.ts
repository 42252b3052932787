import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { newId } from '@svc/contracts';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

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
  readonly accountType?: 'personal' | 'business' | undefined;
}

export interface AccessTokenChoices extends TokenChoices {
  readonly clientId?: string | undefined;
  readonly grantId?: string | undefined;
  /** Space-separated. Defaults to `inference usage:read`. */
  readonly scope?: string | undefined;
}

/** Stand-in for the auth service: signs tokens and serves the keys. */
export interface TestTokens {
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
  const jwks = await serveJwks(keys);
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
    publicBaseUrl,
    jwksUrl: jwks.url,
    jwksRequests: jwks.requests,
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
    stop: jwks.stop,
  };
};

const sessionClaims = (publicBaseUrl: string, choices: SessionChoices): object => ({
  aud: `${publicBaseUrl}/v1/console`,
  sid: choices.sessionId ?? newId('ses'),
  account_type: choices.accountType ?? 'personal',
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

const serveJwks = async (keys: readonly SigningKey[]) => {
  let requests = 0;
  const server = createServer((_request, response) => {
    requests += 1;
    response.writeHead(200, { 'content-type': 'application/jwk-set+json' });
    response.end(JSON.stringify({ keys: keys.map(({ publicJwk }) => publicJwk) }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/v1/integrations/oauth/jwks`,
    requests: () => requests,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
