import { hash } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose';
import * as client from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, startAuthService, startReplica } from './support/auth-service.ts';
import { tidyUpOf } from './support/background-work.ts';
import { newBrowser, type Shown } from './support/browser.ts';
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
  redeem,
  refresh,
  STATE,
} from './support/partner.ts';

let service: AuthService;
let owner: Person;
let person: Person;
let publicApp: RegisteredApp;
let confidentialApp: RegisteredApp;

beforeAll(async () => {
  service = await startAuthService();
  owner = await newPerson(service, 'business');
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
    const key = await newKey();
    const other = await newKey();
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

  test('RFC 9449 §5: a proof at a refresh binds the refresh token of a public app that was not bound', async () => {
    const key = await newKey();
    const unbound = await redeemWith(undefined);
    const bound = await refreshWith(textAt(unbound, 'refresh_token'), await prove(key));
    expect([bound.status, textAt(bound, 'token_type')]).toEqual([200, 'DPoP']);
    const token = textAt(bound, 'refresh_token');
    expect((await refreshWith(token)).status).toBe(400);
    expect((await refreshWith(token, await prove(await newKey()))).status).toBe(400);
    expect((await refreshWith(token, await prove(key))).status).toBe(200);
  });

  test('issues a bearer token without a proof', async () => {
    const answer = await redeemWith(undefined);
    expect(answer.body).toMatchObject({ token_type: 'Bearer' });
    expect(claimsOf(textAt(answer, 'access_token'))['cnf']).toBeUndefined();
  });

  test('RFC 9449 §10: redeems a code bound to a key only with that key', async () => {
    const key = await newKey();
    const other = await newKey();
    const over = { dpop_jkt: key.thumbprint };
    for (const proof of [undefined, await prove(other)]) expect((await redeemWith(proof, over)).status).toBe(400);
    expect((await redeemWith(await prove(key), over)).status).toBe(200);
  });

  test('RFC 9449 §11.1: accepts a proof once, also under concurrency', async () => {
    const proof = await prove(await newKey());
    const answers = await Promise.all(Array.from({ length: 4 }, () => redeemWith(proof)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    service.clock.advanceMs(2 * 3_600_000);
    await tidyUpOf(service);
    expect(await service.database('dpop_proofs')).toEqual([]);
    service.clock.advanceMs(-2 * 3_600_000);
  });

  test('RFC 9449 §11.1: accepts a proof once across replicas', async () => {
    const replica = await startReplica(service);
    const key = await newKey();
    const proof = await prove(key);
    const newForm = async () => {
      const verifier = newVerifier();
      return {
        grant_type: 'authorization_code',
        client_id: publicApp.clientId,
        redirect_uri: REDIRECT_URI,
        code: await approve(service, { app: publicApp, person, verifier }),
        code_verifier: verifier,
      };
    };
    expect((await call(tokenUrl(), { form: await newForm(), headers: { dpop: proof } })).status).toBe(200);
    const elsewhere = `${replica.url}${new URL(tokenUrl()).pathname}`;
    const form = await newForm();
    const replayed = await call(elsewhere, { form, headers: { dpop: proof } });
    expect([replayed.status, textAt(replayed, 'error')]).toEqual([400, 'invalid_dpop_proof']);
    expect((await call(elsewhere, { form, headers: { dpop: await prove(key) } })).status).toBe(200);
    await replica.stop();
  });

  test('RFC 9449 §4.3: refuses a proof for another URL, for any Host header', async () => {
    const forged = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' };
    const path = new URL(tokenUrl()).pathname;
    const elsewhere = await redeemWith(await prove(await newKey(), { htu: `https://evil.example${path}` }), {}, forged);
    expect(textAt(elsewhere, 'error')).toBe('invalid_dpop_proof');
    expect((await redeemWith(await prove(await newKey()), {}, forged)).status).toBe(200);
    expect((await redeemWith('nonsense')).status).toBe(400);
  });
});

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
const pagePath = (query: Record<string, string>): string =>
  `/v1/integrations/oauth/authorize?${new URLSearchParams(query)}`;
const open = (app: RegisteredApp, requestUri: string, more: Record<string, string> = {}) =>
  newBrowser(service).open(pagePath({ client_id: app.clientId, request_uri: requestUri, ...more }));
const expectRefused = (page: Shown, reason: RegExp): void => {
  expect([page.status, page.location]).toEqual([400, undefined]);
  expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  expect(page.text).toMatch(reason);
};

describe('POST /v1/integrations/oauth/par', () => {
  test('RFC 9126 §2.2, §4: shows the pushed request once, and ignores parameters added by the browser', async () => {
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
    expectRefused(await open(publicApp, requestUri), /scaduta o è già stata aperta/);
    const behind = new URLSearchParams({
      client_id: publicApp.clientId,
      request_uri: textAt(await push({}), 'request_uri'),
    });
    const marked = await newBrowser(service).open(`/v1/integrations/oauth/authorize?source=a?b&${behind}`);
    expect(marked.status).toBe(200);
  });

  test('completes the whole flow in a browser', async () => {
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

  test('RFC 9126 §2.3: refuses an unauthenticated client and invalid parameters at once', async () => {
    const wrong = await push({}, { ...confidentialApp, secret: 'svc_cs_wrong' });
    expect([wrong.status, textAt(wrong, 'error')]).toEqual([401, 'invalid_client']);
    const elsewhere = await push({ redirect_uri: 'https://evil.example/' });
    expect([elsewhere.status, textAt(elsewhere, 'error')]).toEqual([400, 'invalid_request']);
    const plain = await push({ code_challenge_method: 'plain' });
    expect(plain.status).toBe(400);
  });

  test.each([
    ['a state that is too short', { state: 'short' }, 'invalid_request'],
    ['no state', { state: '' }, 'invalid_request'],
    ['a challenge that is none', { code_challenge: 'x'.repeat(44) }, 'invalid_request'],
    ['a language that there is not', { locale: 'fr' }, 'invalid_request'],
    ['a scope that there is not', { scope: 'admin' }, 'invalid_scope'],
    ['NUL in a parameter', { state: `${STATE}\0` }, 'invalid_request'],
  ])('RFC 9126 §2.1: reports %s to the app, not to the browser', async (_name, form, error) => {
    const answer = await push(form);
    expect([answer.status, textAt(answer, 'error')]).toEqual([400, error]);
  });

  test('accepts the prompts of the metadata, and stores no parameter that the page does not read', async () => {
    for (const prompt of ['none', 'create', 'login']) expect((await push({ prompt })).status).toBe(201);
    const unread = {
      login_hint: 'someone@example.com\0',
      nonce: 'n',
      max_age: '0',
      id_token_hint: 'x',
      acr_values: 'y',
    };
    for (const scope of ['inference', 'inference openid']) expect((await push({ scope, ...unread })).status).toBe(201);
    const rows = await service.database('pushed_requests').select('parameters');
    expect(JSON.stringify(rows)).not.toContain('login_hint');
  });

  test('RFC 9449 §11.1: refuses a repeated proof as such', async () => {
    const dpop = await prove(await newKey(), { htu: `${service.url}/v1/integrations/oauth/par` });
    const pushWith = () =>
      call(`${service.url}/v1/integrations/oauth/par`, {
        form: {
          client_id: publicApp.clientId,
          response_type: 'code',
          redirect_uri: REDIRECT_URI,
          code_challenge: challengeOf(newVerifier()),
          code_challenge_method: 'S256',
          state: STATE,
        },
        headers: { dpop },
      });
    expect((await pushWith()).status).toBe(201);
    const again = await pushWith();
    expect([again.status, textAt(again, 'error')]).toEqual([400, 'invalid_dpop_proof']);
  });

  test('opens a pushed request for its own app after another app has tried to open it', async () => {
    const requestUri = textAt(await push({}), 'request_uri');
    expectRefused(await open(confidentialApp, requestUri), /scaduta/);
    expect((await open(publicApp, requestUri)).status).toBe(200);
    expectRefused(await open(publicApp, requestUri), /scaduta/);
  });

  test('refuses a request of another app, an expired one and an unknown one', async () => {
    const pushed = await push({});
    expectRefused(await open(confidentialApp, textAt(pushed, 'request_uri')), /scaduta/);
    const late = await push({});
    service.clock.advanceMs(61_000);
    expectRefused(await open(publicApp, textAt(late, 'request_uri')), /scaduta/);
    service.clock.advanceMs(-61_000);
    for (const uri of ['urn:ietf:params:oauth:request_uri:x', 'https://evil.example/r', '']) {
      expectRefused(await open(publicApp, uri), /scaduta/);
    }
    expectRefused(await open({ ...publicApp, clientId: '\0' }, 'urn:ietf:params:oauth:request_uri:x'), /scaduta/);
    const query = new URLSearchParams({ client_id: publicApp.clientId, request_uri: 'x' });
    const json = await call(`${service.url}/v1/integrations/oauth/authorize?${query}`, {
      headers: { accept: 'application/json' },
    });
    expect([json.status, textAt(json, 'detail', 'code')]).toEqual([400, 'pushed_request_unknown']);
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
      code_challenge: hash('sha256', verifier, 'base64url'),
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

describe('an app that asks for it', () => {
  const appOf = (fields: object) => newApp(service, owner, { client_type: 'confidential', ...fields });
  const patch = (app: RegisteredApp, json: object) =>
    call(`${service.url}/v1/integrations/apps/${app.clientId}`, { method: 'PATCH', token: owner.token, json });

  test('sets it at registration or by PATCH, and shows it in its record; other apps need neither', async () => {
    const app = await appOf({ require_pushed_authorization_requests: true, dpop_bound_access_tokens: true });
    const listed = await call(`${service.url}/v1/integrations/apps`, { token: owner.token });
    const recordOf = (clientId: string) =>
      // The service checks its own answers against the contract in tests.
      (listed.body as { data: { client_id: string }[] }).data.find((record) => record.client_id === clientId);
    expect(recordOf(app.clientId)).toMatchObject({
      require_pushed_authorization_requests: true,
      dpop_bound_access_tokens: true,
    });
    expect(recordOf(publicApp.clientId)).toMatchObject({
      require_pushed_authorization_requests: false,
      dpop_bound_access_tokens: false,
    });
    const changed = await patch(app, { active: true, dpop_bound_access_tokens: false });
    expect(changed.body).toMatchObject({
      require_pushed_authorization_requests: true,
      dpop_bound_access_tokens: false,
    });
    expect((await patch(app, { active: true, dpop_bound_access_tokens: 'yes' })).status).toBe(422);
  });

  test('RFC 9126 §6: never shows a request that was not pushed: on the page, in the console, or with a foreign mark', async () => {
    const app = await appOf({ require_pushed_authorization_requests: true });
    const plain = {
      client_id: app.clientId,
      redirect_uri: REDIRECT_URI,
      state: STATE,
      code_challenge: challengeOf(newVerifier()),
    };
    const browser = newBrowser(service);
    expectRefused(await browser.open(pagePath(plain)), /non ha inviato/);
    expectRefused(await browser.open(pagePath({ ...plain, pushed: 'forged' })), /non ha inviato/);
    const json = { ...plain, code_challenge_method: 'S256', approved: true };
    const decided = await call(`${service.url}/v1/integrations/oauth/authorize`, { token: person.token, json });
    expect([decided.status, textAt(decided, 'detail', 'code')]).toEqual([400, 'pushed_request_required']);
    const query = new URLSearchParams({ ...plain, code_challenge_method: 'S256', scope: 'inference' });
    const consent = await call(`${service.url}/v1/integrations/oauth/consent?${query}`, { token: person.token });
    expect([consent.status, textAt(consent, 'detail', 'code')]).toEqual([400, 'pushed_request_required']);
  });

  test('keeps a pushed request through sign-in, language change and decision, in the same browser only', async () => {
    const app = await appOf({ require_pushed_authorization_requests: true });
    const verifier = newVerifier();
    const pushed = await push({ code_challenge: challengeOf(verifier) }, app);
    const browser = newBrowser(service);
    const query = { client_id: app.clientId, request_uri: textAt(pushed, 'request_uri') };
    const first = await browser.open(pagePath(query));
    const link = /href="([^"]+locale=en[^"]*)"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const page = await browser.open(link);
    expect(page.text).toContain('lang="en"');
    expectRefused(await newBrowser(service).open(link), /did not send/);
    expectRefused(await browser.open(`${link}&dpop_jkt=${'x'.repeat(43)}`), /did not send/);
    const signedIn = await browser.submitOnce(page, 'sign-in', { email: person.email, password: PASSWORD });
    const consent = await browser.open(signedIn.location ?? '');
    const answered = await browser.submit(consent, 'decision', { decision: 'approve' });
    const code = new URL(answered.location ?? '').searchParams.get('code') ?? '';
    expect((await redeem(service, { app, code, verifier })).status).toBe(200);
  });

  test('refuses a form opened before the app required pushed requests', async () => {
    const app = await appOf({});
    const plain = { client_id: app.clientId, redirect_uri: REDIRECT_URI, state: STATE };
    const browser = newBrowser(service);
    const page = await browser.open(pagePath({ ...plain, code_challenge: challengeOf(newVerifier()) }));
    const consent = await browser.submit(page, 'sign-in', { email: person.email, password: PASSWORD });
    await patch(app, { active: true, require_pushed_authorization_requests: true });
    expectRefused(await browser.submit(consent, 'decision', { decision: 'approve' }), /non ha inviato/);
  });

  test('RFC 9449 §5.2: refuses codes and refresh tokens without a proof, and does not use them up', async () => {
    const app = await appOf({ dpop_bound_access_tokens: true });
    const key = await newKey();
    const verifier = newVerifier();
    const code = await approve(service, { app, person, verifier });
    const bare = await redeem(service, { app, code, verifier });
    expect([bare.status, textAt(bare, 'error')]).toEqual([400, 'invalid_grant']);
    const credentials = { client_id: app.clientId, client_secret: app.secret ?? '' };
    const form = { grant_type: 'authorization_code', redirect_uri: REDIRECT_URI, code, code_verifier: verifier };
    const bound = await postToken(service, { ...credentials, ...form }, { headers: { dpop: await prove(key) } });
    expect(bound.body).toMatchObject({ token_type: 'DPoP' });
    const token = textAt(bound, 'refresh_token');
    const bareRefresh = await refresh(service, { app, token });
    expect([bareRefresh.status, textAt(bareRefresh, 'error')]).toEqual([400, 'invalid_grant']);
    const next = await postToken(
      service,
      { ...credentials, grant_type: 'refresh_token', refresh_token: token },
      { headers: { dpop: await prove(key) } },
    );
    expect(claimsOf(textAt(next, 'access_token'))).toMatchObject({ cnf: { jkt: key.thumbprint } });
  });
});
