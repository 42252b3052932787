import { createHash } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose';
import * as client from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import { tidyUpOf } from './support/background-work.ts';
import { newBrowser } from './support/browser.ts';
import { call, textAt } from './support/http.ts';
import {
  approve,
  challengeOf,
  claimsOf,
  newApp,
  newPerson,
  newVerifier,
  PASSWORD,
  type Person,
  postToken,
  REDIRECT_URI,
  type RegisteredApp,
  STATE,
} from './support/partner.ts';

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

const newKey = async () => {
  const pair = await generateKeyPair('ES256', { extractable: true });
  const jwk = await exportJWK(pair.publicKey);
  return { ...pair, jwk, thumbprint: await calculateJwkThumbprint(jwk) };
};
type Key = Awaited<ReturnType<typeof newKey>>;
const tokenUrl = () => `${service.url}/v1/integrations/oauth/token`;
const prove = (key: Key, over: Record<string, unknown> = {}): Promise<string> =>
  new SignJWT({ htm: 'POST', htu: tokenUrl(), jti: crypto.randomUUID(), ...over })
    .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: key.jwk })
    .setIssuedAt()
    .sign(key.privateKey);

const redeemWith = async (proof: string | undefined, over: object = {}, headers: Record<string, string> = {}) => {
  const verifier = newVerifier();
  const code = await approve(service, { app: publicApp, person, verifier, over });
  return await postToken(
    service,
    {
      grant_type: 'authorization_code',
      client_id: publicApp.clientId,
      redirect_uri: REDIRECT_URI,
      code,
      code_verifier: verifier,
    },
    { headers: { ...(proof === undefined ? {} : { dpop: proof }), ...headers } },
  );
};
const refreshWith = (token: string, proof?: string) =>
  postToken(
    service,
    { grant_type: 'refresh_token', client_id: publicApp.clientId, refresh_token: token },
    proof === undefined ? {} : { headers: { dpop: proof } },
  );

describe('DPoP', () => {
  test('RFC 9449 §5: a proof binds the access token and, of a public app, the refresh token', async () => {
    const [key, other] = [await newKey(), await newKey()];
    const answer = await redeemWith(await prove(key));
    expect(answer.body).toMatchObject({ token_type: 'DPoP', svc_user_id: person.userId });
    expect(claimsOf(textAt(answer, 'access_token'))).toMatchObject({ cnf: { jkt: key.thumbprint } });
    const token = textAt(answer, 'refresh_token');
    for (const proof of [undefined, await prove(other)]) {
      const refused = await refreshWith(token, proof);
      expect([refused.status, textAt(refused, 'error')]).toEqual([400, 'invalid_grant']);
    }
    const next = await refreshWith(token, await prove(key));
    expect(claimsOf(textAt(next, 'access_token'))).toMatchObject({ cnf: { jkt: key.thumbprint } });
    // The binding outlives rotation.
    expect((await refreshWith(textAt(next, 'refresh_token'))).status).toBe(400);
  });

  test('nobody has to: without a proof the token is a bearer token', async () => {
    const answer = await redeemWith(undefined);
    expect(answer.body).toMatchObject({ token_type: 'Bearer' });
    expect(claimsOf(textAt(answer, 'access_token'))['cnf']).toBeUndefined();
  });

  test('RFC 9449 §10: a code that names a key is redeemed with that key alone', async () => {
    const [key, other] = [await newKey(), await newKey()];
    const over = { dpop_jkt: key.thumbprint };
    for (const proof of [undefined, await prove(other)]) expect((await redeemWith(proof, over)).status).toBe(400);
    expect((await redeemWith(await prove(key), over)).status).toBe(200);
  });

  test('RFC 9449 §11.1: a proof is good once, also raced', async () => {
    const proof = await prove(await newKey());
    const answers = await Promise.all(Array.from({ length: 4 }, () => redeemWith(proof)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    service.clock.advanceMs(2 * 3_600_000);
    await tidyUpOf(service);
    expect(await service.database('dpop_proofs')).toEqual([]);
    service.clock.advanceMs(-2 * 3_600_000);
  });

  test('RFC 9449 §4.3: a proof for another address is refused, whatever host the request names', async () => {
    const forged = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' };
    const path = new URL(tokenUrl()).pathname;
    const elsewhere = await redeemWith(await prove(await newKey(), { htu: `https://evil.example${path}` }), {}, forged);
    expect(textAt(elsewhere, 'error')).toBe('invalid_dpop_proof');
    expect((await redeemWith(await prove(await newKey()), {}, forged)).status).toBe(200);
    expect((await redeemWith('nonsense')).status).toBe(400);
  });
});

describe('POST /v1/integrations/oauth/par', () => {
  const push = (form: Record<string, string>, app = publicApp) =>
    call(`${service.url}/v1/integrations/oauth/par`, {
      form: {
        client_id: app.clientId,
        ...(app.secret === undefined ? {} : { client_secret: app.secret }),
        response_type: 'code',
        redirect_uri: REDIRECT_URI,
        code_challenge: challengeOf(newVerifier()),
        code_challenge_method: 'S256',
        state: STATE,
        ...form,
      },
    });
  const open = (app: RegisteredApp, requestUri: string, more: Record<string, string> = {}) =>
    newBrowser(service).open(
      `/v1/integrations/oauth/authorize?${new URLSearchParams({ client_id: app.clientId, request_uri: requestUri, ...more })}`,
    );

  test('RFC 9126 §2.2, §4: the page shows what was pushed, once, and nothing that the browser adds', async () => {
    const answer = await push({ scope: 'usage:read', locale: 'en' });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      request_uri: expect.stringMatching(/^urn:ietf:params:oauth:request_uri:[\w-]{20,}$/),
      expires_in: 60,
    });
    const requestUri = textAt(answer, 'request_uri');
    const page = await open(publicApp, requestUri, { scope: 'inference', redirect_uri: 'https://evil.example/' });
    expect(page.status).toBe(200);
    expect(page.text).toContain('lang="en"');
    expect(page.text).not.toContain('evil.example');
    expect((await open(publicApp, requestUri)).status).toBe(422);
  });

  test('the whole flow, in a browser', async () => {
    const verifier = newVerifier();
    const pushed = await push({ code_challenge: challengeOf(verifier) }, confidentialApp);
    const browser = newBrowser(service);
    const query = new URLSearchParams({
      client_id: confidentialApp.clientId,
      request_uri: textAt(pushed, 'request_uri'),
    });
    const page = await browser.open(`/v1/integrations/oauth/authorize?${query}`);
    const consent = await browser.submit(page, 'sign-in', { email: person.email, password: PASSWORD });
    const answered = await browser.submit(consent, 'decision', { decision: 'approve' });
    const code = new URL(answered.location ?? '').searchParams.get('code') ?? '';
    const tokens = await postToken(service, {
      grant_type: 'authorization_code',
      client_id: confidentialApp.clientId,
      client_secret: confidentialApp.secret ?? '',
      redirect_uri: REDIRECT_URI,
      code,
      code_verifier: verifier,
    });
    expect(tokens.status).toBe(200);
  });

  test('RFC 9126 §2.3: a client that does not prove itself, or names what it may not, is told at once', async () => {
    const wrong = await push({}, { ...confidentialApp, secret: 'svc_cs_wrong' });
    expect([wrong.status, textAt(wrong, 'error')]).toEqual([401, 'invalid_client']);
    const elsewhere = await push({ redirect_uri: 'https://evil.example/' });
    expect([elsewhere.status, textAt(elsewhere, 'error')]).toEqual([400, 'invalid_request']);
    const plain = await push({ code_challenge_method: 'plain' });
    expect(plain.status).toBe(400);
  });

  test('a request of another app, an expired one and an unknown one are refused', async () => {
    const pushed = await push({});
    expect((await open(confidentialApp, textAt(pushed, 'request_uri'))).status).toBe(422);
    const late = await push({});
    service.clock.advanceMs(61_000);
    expect((await open(publicApp, textAt(late, 'request_uri'))).status).toBe(422);
    service.clock.advanceMs(-61_000);
    for (const uri of ['urn:ietf:params:oauth:request_uri:x', 'https://evil.example/r', '']) {
      expect((await open(publicApp, uri)).status).toBe(422);
    }
  });

  test('openid-client pushes, binds and refreshes, given only the issuer', async () => {
    const secret = confidentialApp.secret ?? '';
    const config = await client.discovery(
      new URL(service.url),
      confidentialApp.clientId,
      undefined,
      client.ClientSecretBasic(secret),
      { algorithm: 'oauth2', execute: [client.allowInsecureRequests] },
    );
    const DPoP = client.getDPoPHandle(config, await client.randomDPoPKeyPair('ES256'));
    const verifier = client.randomPKCECodeVerifier();
    const request = {
      redirect_uri: REDIRECT_URI,
      scope: 'inference',
      state: STATE,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    };
    const url = await client.buildAuthorizationUrlWithPAR(config, request);
    expect((await fetch(url)).status).toBe(200);
    const decided = await call(`${service.url}/v1/integrations/oauth/authorize`, {
      token: person.token,
      json: { ...request, client_id: confidentialApp.clientId, approved: true },
    });
    const checks = { pkceCodeVerifier: verifier, expectedState: STATE };
    const tokens = await client.authorizationCodeGrant(
      config,
      new URL(textAt(decided, 'redirect_to')),
      checks,
      undefined,
      { DPoP },
    );
    expect(tokens.token_type).toBe('dpop');
    const next = await client.refreshTokenGrant(config, tokens.refresh_token ?? '', undefined, { DPoP });
    expect(claimsOf(next.access_token)['cnf']).toBeDefined();
  });
});
