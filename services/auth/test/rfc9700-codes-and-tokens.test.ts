import { createHmac, createPublicKey, type JsonWebKey } from 'node:crypto';
import { routesOf } from '@svc/contracts';
import { createTokenAuthenticators } from '@svc/service-kit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import { type Answer, call, textAt } from './support/http.ts';
import {
  approve,
  challengeOf,
  claimsOf,
  connect,
  consentRequest,
  newApp,
  newPerson,
  newVerifier,
  type Person,
  REDIRECT_URI,
  type RegisteredApp,
  redeem,
  refresh,
  STATE,
} from './support/partner.ts';

/** RFC 9700 on codes and tokens, by clause. Pages and addresses: `rfc9700.test.ts`. */

let service: AuthService;
let owner: Person;
let person: Person;
let app: RegisteredApp;
let confidential: RegisteredApp;

beforeAll(async () => {
  service = await startAuthService();
  owner = await newPerson(service, 'business');
  person = await newPerson(service);
  app = await newApp(service, owner);
  confidential = await newApp(service, owner, { client_type: 'confidential' });
});
afterAll(() => service.stop());

const expectInvalidGrant = (answer: Answer): void => {
  expect([answer.status, textAt(answer, 'error')]).toEqual([400, 'invalid_grant']);
};

describe('codes', () => {
  test('§2.1.1, §4.8: issues no code without a challenge or with a weak one', async () => {
    const { code_challenge, code_challenge_method, ...bare } = consentRequest(app, newVerifier());
    const weak = [
      bare,
      { ...bare, code_challenge_method },
      { ...bare, code_challenge: '', code_challenge_method },
      { ...bare, code_challenge, code_challenge_method: 'plain' },
      { ...bare, code_challenge },
      { ...bare, code_challenge: null, code_challenge_method: null },
    ];
    for (const json of weak) {
      const answer = await call(`${service.url}/v1/integrations/oauth/authorize`, { token: person.token, json });
      expect(answer.status).toBe(422);
      expect(answer.text).not.toContain('redirect_to');
    }
  });

  test('§4.8.2: refuses a code without a verifier, or with the challenge as the verifier', async () => {
    for (const of of [app, confidential]) {
      const verifier = newVerifier();
      const code = await approve(service, { app: of, person, verifier });
      const { status } = await redeem(service, { app: of, code, verifier, over: { code_verifier: '' } });
      expect(status).toBe(400);
      expectInvalidGrant(await redeem(service, { app: of, code, verifier: challengeOf(verifier) }));
      expectInvalidGrant(await redeem(service, { app: of, code, verifier: newVerifier() }));
      expect((await redeem(service, { app: of, code, verifier })).status).toBe(200);
    }
  });

  test('§4.5: refuses a stolen code in another session, for another app or at another redirect URI', async () => {
    const other = await newApp(service, owner, { redirect_uris: [REDIRECT_URI, 'https://app.example/other'] });
    const verifier = newVerifier();
    const code = await approve(service, { app: other, person, verifier });
    const injected = [
      await redeem(service, { app: other, code, verifier: newVerifier() }),
      await redeem(service, { app, code, verifier }),
      await redeem(service, { app: confidential, code, verifier }),
      await redeem(service, { app: other, code, verifier, over: { redirect_uri: 'https://app.example/other' } }),
    ];
    for (const answer of injected) expectInvalidGrant(answer);
    expect((await redeem(service, { app: other, code, verifier })).status).toBe(200);
  });

  test('§4.5.3: a replay ends the grant of the code, also with a wrong verifier', async () => {
    for (const isVerifierWrong of [false, true]) {
      const { code, verifier, refreshToken } = await connect(service, { app, person });
      expectInvalidGrant(await redeem(service, { app, code, verifier: isVerifierWrong ? newVerifier() : verifier }));
      expectInvalidGrant(await refresh(service, { app, token: refreshToken }));
    }
  });

  test('RFC 6749 §10.5: a used code or token presented by another client does not end the grant', async () => {
    const { code, verifier, refreshToken } = await connect(service, { app, person });
    const rotated = textAt(await refresh(service, { app, token: refreshToken }), 'refresh_token');
    const newest = textAt(await refresh(service, { app, token: rotated }), 'refresh_token');
    expectInvalidGrant(await redeem(service, { app: confidential, code, verifier }));
    expectInvalidGrant(await refresh(service, { app: confidential, token: refreshToken }));
    expect((await refresh(service, { app, token: newest })).status).toBe(200);
  });

  test('§4.5: of 1,000 concurrent redemptions of one code, half with wrong verifiers, at most one wins', async () => {
    const verifier = newVerifier();
    const crowd = await newPerson(service);
    const code = await approve(service, { app, person: crowd, verifier });
    const answers = await Promise.all(
      Array.from({ length: 1_000 }, (_, index) =>
        redeem(service, { app, code, verifier: index % 2 === 0 ? verifier : newVerifier() }),
      ),
    );
    const winners = answers.filter(({ status }) => status === 200);
    expect(winners.length).toBeLessThanOrEqual(1);
    for (const answer of answers) if (!winners.includes(answer)) expectInvalidGrant(answer);
    // The others presented it again, so nothing that it gave is good.
    expect(await service.database('grants').where({ user_id: crowd.userId })).toEqual([]);
    for (const winner of winners) {
      expectInvalidGrant(await refresh(service, { app, token: textAt(winner, 'refresh_token') }));
    }
    const stored = await service.database('connections').where({ user_id: crowd.userId });
    expect(stored).toMatchObject([{ version: 1, ended_at: null }]);
  }, 120_000);

  test('§4.5: 1,000 concurrent wrong redemptions do not block the right one', async () => {
    const verifier = newVerifier();
    const code = await approve(service, { app, person: await newPerson(service), verifier });
    const wrong = await Promise.all(
      Array.from({ length: 1_000 }, () => redeem(service, { app, code, verifier: newVerifier() })),
    );
    for (const answer of wrong) expectInvalidGrant(answer);
    expect((await redeem(service, { app, code, verifier })).status).toBe(200);
  }, 120_000);

  test('§4.7: returns state unchanged, with any characters', async () => {
    const state = `${STATE} +&=#%20"<é>`;
    const answer = await call(`${service.url}/v1/integrations/oauth/authorize`, {
      token: person.token,
      json: consentRequest(app, newVerifier(), { state }),
    });
    expect(new URL(textAt(answer, 'redirect_to')).searchParams.get('state')).toBe(state);
  });
});

/** Changes a token's header, and its signature with it. */
const forge = (token: string, header: object, sign: (input: string) => string): string => {
  const [head = '', payload = ''] = token.split('.');
  const changed = { ...JSON.parse(Buffer.from(head, 'base64url').toString()), ...header };
  const input = `${Buffer.from(JSON.stringify(changed)).toString('base64url')}.${payload}`;
  return `${input}.${sign(input)}`;
};

describe('tokens', () => {
  /** Takes access tokens as every other service does, with the published keys. */
  const takesAccessToken = async (token: string): Promise<boolean> => {
    const { oauth_access_token } = createTokenAuthenticators({
      publicBaseUrl: service.url,
      jwksUrl: `${service.url}/v1/integrations/oauth/jwks`,
      revocations: { refreshIfStale: () => undefined, isRevoked: () => false },
      auth: { call: () => Promise.reject(new Error('unused')) },
    });
    return await oauth_access_token(token).then(
      () => true,
      () => false,
    );
  };
  const sessionStatus = async (token: string) => (await call(`${service.url}/v1/console/session`, { token })).status;

  test('§2.3, §4.10.2: console routes refuse access tokens, and app routes refuse session tokens', async () => {
    const { accessToken } = await connect(service, { app, person });
    expect(await takesAccessToken(accessToken)).toBe(true);
    expect(await takesAccessToken(person.token)).toBe(false);
    const consoleRoutes = routesOf('auth').filter(({ caller }) => caller === 'console_session');
    expect(consoleRoutes.length).toBeGreaterThan(10);
    for (const { method, path } of consoleRoutes) {
      const url = `${service.url}${path.replace('{client_id}', app.clientId)}`;
      const json = method === 'GET' || method === 'DELETE' ? undefined : {};
      const answer = await call(url, { method, token: accessToken, json });
      expect([path, answer.status, textAt(answer, 'detail', 'code')]).toEqual([path, 401, 'invalid_token']);
    }
  });

  test('RFC 8725 §2.1: refuses a token without algorithm, or signed with the public key', async () => {
    const { accessToken } = await connect(service, { app, person });
    const { keys } = (await call(`${service.url}/v1/integrations/oauth/jwks`)).body as { keys: JsonWebKey[] };
    const secrets = keys.flatMap((key) => [
      createPublicKey({ key, format: 'jwk' }).export({ format: 'pem', type: 'spki' }),
      createPublicKey({ key, format: 'jwk' }).export({ format: 'der', type: 'spki' }),
      JSON.stringify(key),
    ]);
    const forgers: ((token: string) => string)[] = [
      (token) => forge(token, { alg: 'none' }, () => ''),
      (token) => forge(token, { alg: 'None', typ: 'JWT' }, () => ''),
      (token) => forge(token, {}, () => ''),
      (token) => forge(token, { jwk: keys[0] }, () => 'AA'),
      ...secrets.map(
        (secret) => (token: string) =>
          forge(token, { alg: 'HS256' }, (input) => createHmac('sha256', secret).update(input).digest('base64url')),
      ),
    ];
    expect([await sessionStatus(person.token), await takesAccessToken(accessToken)]).toEqual([200, true]);
    for (const forger of forgers) {
      expect(await sessionStatus(forger(person.token))).toBe(401);
      expect(await takesAccessToken(forger(accessToken))).toBe(false);
    }
  });

  test('§4.14.2: binds a refresh token to its app, rotates it, and ends the grant on replay', async () => {
    const strict = await newApp(service, owner, { refresh_grace_seconds: 0 });
    const { refreshToken } = await connect(service, { app: strict, person });
    expectInvalidGrant(await refresh(service, { app, token: refreshToken }));
    const next = textAt(await refresh(service, { app: strict, token: refreshToken }), 'refresh_token');
    expect(next).not.toBe(refreshToken);
    expectInvalidGrant(await refresh(service, { app: strict, token: refreshToken }));
    expectInvalidGrant(await refresh(service, { app: strict, token: next }));
  });

  test('§2.3: a token names subject, issuer, client, audience and scope, and lives an hour', async () => {
    const { accessToken, grantId } = await connect(service, { app, person });
    const claims = claimsOf(accessToken);
    expect(claims).toMatchObject({
      iss: service.url,
      aud: `${service.url}/v1`,
      sub: person.userId,
      client_id: app.clientId,
      scope: 'inference usage:read',
      grant_id: grantId,
    });
    expect(Number(claims['exp']) - Number(claims['iat'])).toBe(3600);
  });
});
