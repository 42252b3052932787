import * as client from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import { call, textAt } from './support/http.ts';
import { claimsOf, newApp, newPerson, type Person, REDIRECT_URI, type RegisteredApp } from './support/partner.ts';

let service: AuthService;
let person: Person;
let publicApp: RegisteredApp;
let confidentialApp: RegisteredApp;

beforeAll(async () => {
  service = await startAuthService();
  const owner = await newPerson(service, 'business');
  person = await newPerson(service);
  publicApp = await newApp(service, owner);
  confidentialApp = await newApp(service, owner, { client_type: 'confidential' });
});
afterAll(() => service.stop());

const decide = async (url: URL, approved: boolean): Promise<URL> => {
  const { response_type: _type, ...request } = Object.fromEntries(url.searchParams);
  const answer = await call(`${service.url}/v1/integrations/oauth/authorize`, {
    token: person.token,
    json: { ...request, approved },
  });
  return new URL(textAt(answer, 'redirect_to'));
};

const kinds = [
  ['public', () => publicApp, () => client.None()],
  ['confidential by HTTP Basic', () => confidentialApp, (secret: string) => client.ClientSecretBasic(secret)],
  ['confidential by form', () => confidentialApp, (secret: string) => client.ClientSecretPost(secret)],
] as const;

describe.each(kinds)('openid-client, given only the issuer, as a %s app', (_kind, findApp, authentication) => {
  describe.each(['oidc', 'oauth2'] as const)('with %s discovery', (algorithm) => {
    const start = async () => {
      const app = findApp();
      const config = await client.discovery(
        new URL(service.url),
        app.clientId,
        undefined,
        authentication(app.secret ?? ''),
        { algorithm, execute: [client.allowInsecureRequests] },
      );
      const verifier = client.randomPKCECodeVerifier();
      const state = client.randomState();
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: REDIRECT_URI,
        scope: 'inference usage:read',
        state,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      return { config, url, checks: { pkceCodeVerifier: verifier, expectedState: state } };
    };

    test('connects, refreshes and revokes', async () => {
      const { config, url, checks } = await start();
      expect((await fetch(url)).status).toBe(200);
      const tokens = await client.authorizationCodeGrant(config, await decide(url, true), checks);
      expect(tokens['svc_user_id']).toBe(person.userId);
      expect(claimsOf(tokens.access_token)['iss']).toBe(service.url);
      const next = await client.refreshTokenGrant(config, tokens.refresh_token ?? '');
      expect(next.refresh_token).not.toBe(tokens.refresh_token);
      await client.tokenRevocation(config, next.refresh_token ?? '');
      await expect(client.refreshTokenGrant(config, next.refresh_token ?? '')).rejects.toMatchObject({
        error: 'invalid_grant',
      });
    });

    test('RFC 9207 §2.4: receives a denial, and refuses an answer without our issuer', async () => {
      const { config, url, checks } = await start();
      await expect(client.authorizationCodeGrant(config, await decide(url, false), checks)).rejects.toMatchObject({
        error: 'access_denied',
      });
      const nameless = await decide(url, true);
      nameless.searchParams.delete('iss');
      await expect(client.authorizationCodeGrant(config, nameless, checks)).rejects.toThrow();
    });
  });
});

describe('metadata', () => {
  test.each(['openid-configuration', 'oauth-authorization-server'])(
    'RFC 8414 §3: %s names the served paths, for any Host header',
    async (name) => {
      const answer = await call(`${service.url}/.well-known/${name}`, {
        headers: { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https', forwarded: 'host=evil.example' },
      });
      expect(answer.status).toBe(200);
      expect(answer.text).not.toContain('evil.example');
      expect(answer.body).toMatchObject({
        issuer: service.url,
        authorization_endpoint: `${service.url}/v1/integrations/oauth/authorize`,
        token_endpoint: `${service.url}/v1/integrations/oauth/token`,
        revocation_endpoint: `${service.url}/v1/integrations/oauth/revoke`,
        jwks_uri: `${service.url}/v1/integrations/oauth/jwks`,
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true,
      });
    },
  );

  test('publishes only public keys', async () => {
    const answer = await call(`${service.url}/v1/integrations/oauth/jwks`);
    expect(answer.body).toEqual({
      keys: [
        {
          kty: 'EC',
          crv: 'P-256',
          x: expect.any(String),
          y: expect.any(String),
          kid: expect.any(String),
          alg: 'ES256',
          use: 'sig',
        },
        expect.objectContaining({ kty: 'EC' }),
      ],
    });
    expect(answer.text).not.toContain('"d"');
  });

  test('serves the OpenAPI document of the whole API', async () => {
    const answer = await call(`${service.url}/v1/openapi.json`);
    expect(answer.body).toMatchObject({ openapi: expect.stringMatching(/^3\.1\./) });
  });
});
