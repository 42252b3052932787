import { createHash } from 'node:crypto';
import { freePort } from '@svc/testing';
import { decodeProtectedHeader, importJWK, jwtVerify } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  ConnectError,
  ConnectionEndedError,
  type Connector,
  createConnector,
  createDpopFetch,
  createMemoryTokenStore,
  createUserTokens,
  type TokenSet,
} from '../src/index.ts';
import { type StandInOAuth, startStandInOAuth } from './support/stand-in-oauth.ts';

const REDIRECT_URI = 'https://partner.example/callback';

let oauth: StandInOAuth;
let connector: Connector;

beforeAll(async () => {
  oauth = await startStandInOAuth();
});
afterAll(() => oauth.stop());
beforeEach(() => {
  connector = makeConnector();
  Object.assign(oauth, { hasGrace: true, expiresIn: 3600, delayMs: 0, grantedDetails: undefined });
  oauth.tokenRequests.length = 0;
});

const makeConnector = (more: object = {}): Connector =>
  createConnector({
    issuer: oauth.url,
    clientId: oauth.clientId,
    clientSecret: oauth.clientSecret,
    redirectUri: REDIRECT_URI,
    ...more,
  });

const connect = async (): Promise<TokenSet> => {
  const { url, session } = await connector.begin();
  return (await connector.finish(oauth.decide(url, true), session)).tokens;
};

const reasonOf = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(
    () => undefined,
    (failure: unknown) => failure,
  );
  expect(error).toBeInstanceOf(ConnectError);
  return error instanceof ConnectError ? error.reason : '';
};

test('RFC 9126: pushes the request, and sends the browser with its reference alone', async () => {
  const sent: { url: string; form: URLSearchParams }[] = [];
  const pushing = makeConnector({
    pushesRequests: true,
    fetch: async (url: URL, init: RequestInit) => {
      sent.push({ url: url.href, form: new URLSearchParams(String(init.body)) });
      return Response.json({ request_uri: 'urn:request:1', expires_in: 60 }, { status: 201 });
    },
  });
  const { url, session } = await pushing.begin({ locale: 'en' });
  expect(Object.fromEntries(new URL(url).searchParams)).toEqual({
    client_id: oauth.clientId,
    request_uri: 'urn:request:1',
  });
  expect(sent.map((each) => each.url)).toEqual([`${oauth.url}/v1/integrations/oauth/par`]);
  expect(Object.fromEntries(sent[0]?.form ?? [])).toMatchObject({
    client_id: oauth.clientId,
    client_secret: oauth.clientSecret,
    redirect_uri: REDIRECT_URI,
    state: session.state,
    code_challenge_method: 'S256',
    locale: 'en',
  });
});

test('RFC 9449 §4.2: proves a key with each request, for this method, address and token', async () => {
  const requests: { url: string; headers: Headers }[] = [];
  const send = await createDpopFetch({
    fetch: async (url, init) => {
      requests.push({ url: String(url), headers: new Headers(init?.headers) });
      return new Response();
    },
  });
  await send('https://svc.example/token?x=1', { method: 'POST', body: new FormData() });
  await send('https://svc.example/usage', { headers: { authorization: 'Bearer at_1' } });
  const proofs = await Promise.all(
    requests.map(async ({ headers }) => {
      const proof = headers.get('dpop') ?? '';
      const { jwk, alg, typ } = decodeProtectedHeader(proof);
      const key = await importJWK(jwk ?? {}, alg);
      return { jwk, typ, claims: (await jwtVerify(proof, key)).payload };
    }),
  );
  expect(proofs.map(({ typ, claims }) => [typ, claims['htm'], claims['htu'], claims['ath']])).toEqual([
    ['dpop+jwt', 'POST', 'https://svc.example/token', undefined],
    ['dpop+jwt', 'GET', 'https://svc.example/usage', createHash('sha256').update('at_1').digest('base64url')],
  ]);
  expect(proofs[1]?.jwk).toEqual(proofs[0]?.jwk);
  expect(proofs[1]?.claims.jti).not.toBe(proofs[0]?.claims.jti);
  expect(requests.map(({ headers }) => [headers.get('authorization'), headers.get('content-type')])).toEqual([
    [null, null],
    ['DPoP at_1', null],
  ]);
});

describe('begin', () => {
  test('RFC 7636 §4.3: sends the browser with an S256 challenge, a state and the registered redirect URI', async () => {
    const { url, session } = await connector.begin({ locale: 'en' });
    const query = Object.fromEntries(new URL(url).searchParams);
    expect(url.startsWith(`${oauth.url}/v1/integrations/oauth/authorize?`)).toBe(true);
    expect(query).toMatchObject({
      client_id: oauth.clientId,
      redirect_uri: REDIRECT_URI,
      response_type: 'code',
      scope: 'inference usage:read',
      code_challenge_method: 'S256',
      state: session.state,
      locale: 'en',
    });
    expect(query['code_challenge']).toMatch(/^[\w-]{43}$/);
    expect(session.state.length).toBeGreaterThanOrEqual(16);
    expect(url).not.toContain(session.codeVerifier);
  });

  test('gives every flow its own state and verifier', async () => {
    const flows = await Promise.all(Array.from({ length: 20 }, () => connector.begin()));
    expect(new Set(flows.map(({ session }) => session.state)).size).toBe(20);
    expect(new Set(flows.map(({ session }) => session.codeVerifier)).size).toBe(20);
  });

  test('asks for a code without a page, and throws `interaction_required` if there is none', async () => {
    const { url, session } = await connector.begin({ prompt: 'none' });
    expect(new URL(url).searchParams.get('prompt')).toBe('none');
    const callback = new URLSearchParams({ error: 'login_required', state: session.state, iss: oauth.url });
    expect(await reasonOf(connector.finish(`/callback?${callback}`, session))).toBe('interaction_required');
  });
});

describe('a budget', () => {
  test('RFC 9396 §2: is proposed in the authorize request and read from every token response', async () => {
    const expiresAt = new Date('2026-12-31T00:00:00Z');
    const budget = { limitMicros: 2_000_000, currency: 'EUR', period: 'week', expiresAt } as const;
    const { url, session } = await connector.begin({ budget });
    expect(JSON.parse(new URL(url).searchParams.get('authorization_details') ?? '')).toEqual([
      {
        type: 'inference_budget',
        limit_micros: 2_000_000,
        currency: 'EUR',
        period: 'week',
        expires_at: '2026-12-31T00:00:00.000Z',
      },
    ]);
    const granted = { type: 'inference_budget', limit_micros: 500_000, currency: 'EUR', period: 'month' };
    oauth.grantedDetails = [{ ...granted, expires_at: '2026-12-31T00:00:00Z' }];
    const { tokens } = await connector.finish(oauth.decide(url, true), session);
    const expected = { limitMicros: 500_000, currency: 'EUR', period: 'month' };
    expect(tokens.budget).toEqual({ ...expected, expiresAtMs: expiresAt.getTime() });
    oauth.grantedDetails = [granted];
    expect((await connector.refresh(tokens)).budget).toEqual(expected);
  });

  test('is absent if the user has granted none', async () => {
    expect(await connect()).not.toHaveProperty('budget');
  });
});

describe('finish', () => {
  test('takes the user from the token response, and the expiry from the time of the request', async () => {
    const now = new Date('2026-10-01T12:00:00Z');
    connector = makeConnector({ clock: () => now });
    const { url, session } = await connector.begin();
    const { svcUserId, tokens } = await connector.finish(
      `${oauth.decide(url, true)}&svc_user_id=usr_of_somebody`,
      session,
    );
    expect(svcUserId).toBe(oauth.svcUserId);
    expect(tokens).toMatchObject({ svcUserId, scope: 'inference usage:read', expiresAtMs: now.getTime() + 3600_000 });
  });

  test('accepts a path with a query, as a server behind a proxy sees it', async () => {
    const { url, session } = await connector.begin();
    const { pathname, search } = new URL(oauth.decide(url, true));
    expect((await connector.finish(`/behind/a/proxy${pathname}${search}`, session)).svcUserId).toBe(oauth.svcUserId);
  });

  test('throws `denied` if the user declined', async () => {
    const { url, session } = await connector.begin();
    expect(await reasonOf(connector.finish(oauth.decide(url, false), session))).toBe('denied');
    expect(oauth.tokenRequests).toEqual([]);
  });

  test('RFC 6749 §10.12: rejects a callback of another flow, of no flow, or with two states', async () => {
    const mine = await connector.begin();
    const other = await connector.begin();
    const callback = oauth.decide(other.url, true);
    expect(await reasonOf(connector.finish(callback, mine.session))).toBe('wrong_state');
    expect(await reasonOf(connector.finish(callback, undefined))).toBe('wrong_state');
    expect(await reasonOf(connector.finish(`${callback}&state=${mine.session.state}`, mine.session))).toBe(
      'wrong_state',
    );
    expect(await reasonOf(connector.finish('/callback?code=x', mine.session))).toBe('wrong_state');
    expect(await reasonOf(connector.finish('/callback?code=x&state=', { ...mine.session, state: '' }))).toBe(
      'wrong_state',
    );
    // A denial must belong to this flow, too.
    expect(await reasonOf(connector.finish(oauth.decide(other.url, false), mine.session))).toBe('wrong_state');
    expect(oauth.tokenRequests).toEqual([]);
  });

  test('throws `unavailable` if the service cannot be reached', async () => {
    const issuer = `http://127.0.0.1:${await freePort()}`;
    const elsewhere = makeConnector({ issuer });
    const { session } = await elsewhere.begin();
    const callback = new URLSearchParams({ code: 'x', state: session.state, iss: issuer });
    expect(await reasonOf(elsewhere.finish(`/callback?${callback}`, session))).toBe('unavailable');
  });

  test('RFC 9207 §2.4: rejects a callback of another issuer, or of none', async () => {
    const { url, session } = await connector.begin();
    const callback = new URL(oauth.decide(url, true));
    callback.searchParams.set('iss', 'https://evil.example');
    expect(await reasonOf(connector.finish(callback, session))).toBe('rejected');
    callback.searchParams.delete('iss');
    expect(await reasonOf(connector.finish(callback, session))).toBe('rejected');
    expect(oauth.tokenRequests).toEqual([]);
  });

  test('throws `expired` for a used code or another verifier', async () => {
    const { url, session } = await connector.begin();
    const callback = oauth.decide(url, true);
    const { session: other } = await connector.begin();
    expect(await reasonOf(connector.finish(callback, { ...session, codeVerifier: other.codeVerifier }))).toBe(
      'expired',
    );
    await connector.finish(callback, session);
    expect(await reasonOf(connector.finish(callback, session))).toBe('expired');
  });

  test('throws `misconfigured` for a wrong secret', async () => {
    connector = makeConnector({ clientSecret: 'svc_cs_wrong' });
    expect(await reasonOf(connect())).toBe('misconfigured');
  });

  test('never sends a code twice, even after a lost answer', async () => {
    const { url, session } = await connector.begin();
    oauth.loseAnswers(1);
    expect(await reasonOf(connector.finish(oauth.decide(url, true), session))).toBe('unavailable');
    expect(oauth.tokenRequests).toHaveLength(1);
  });

  test('rejects an answer without the user', async () => {
    const { url, session } = await connector.begin();
    oauth.failNext(200, { access_token: 'a', refresh_token: 'r', token_type: 'bearer', expires_in: 60, scope: '' });
    expect(await reasonOf(connector.finish(oauth.decide(url, true), session))).toBe('rejected');
  });
});

describe('options', () => {
  test.each([
    ['an http issuer', { issuer: 'http://svc.example' }],
    ['an issuer with credentials', { issuer: 'https://user:secret@svc.example' }],
    ['a redirect URI with a query', { redirectUri: 'https://partner.example/cb?x=1' }],
    ['a redirect URI that is not in its normal form', { redirectUri: 'https://Partner.example/cb' }],
  ])('refuse %s', (_name, wrong) => {
    expect(() => makeConnector(wrong)).toThrow(TypeError);
  });

  test('allow http to other hosts only with allowInsecure', () => {
    expect(() => makeConnector({ issuer: 'http://svc.example', allowInsecure: true })).not.toThrow();
  });
});

describe('refresh and revocation', () => {
  test('rotates tokens, survives lost answers within the grace, and reports the end of the connection', async () => {
    const store = createMemoryTokenStore();
    const userTokens = createUserTokens({ connector, store });
    oauth.expiresIn = 30;
    const first = await connect();
    await userTokens.save(first);
    oauth.expiresIn = 3600;
    oauth.loseAnswers(2);
    const token = await userTokens.accessToken(first.svcUserId);
    expect(token).not.toBe(first.accessToken);
    expect(oauth.tokenRequests.map((form) => form.get('grant_type'))).toEqual([
      'authorization_code',
      'refresh_token',
      'refresh_token',
      'refresh_token',
    ]);
    expect(await userTokens.accessToken(first.svcUserId)).toBe(token);

    oauth.disconnect();
    await expect(userTokens.accessToken(first.svcUserId, { rejected: token })).rejects.toBeInstanceOf(
      ConnectionEndedError,
    );
    expect(await store.load(first.svcUserId)).toBeUndefined();
  });

  test('serves two processes that refresh the same user concurrently', async () => {
    const store = createMemoryTokenStore();
    oauth.expiresIn = 30;
    const first = await connect();
    await store.save(first);
    Object.assign(oauth, { expiresIn: 3600, delayMs: 30 });
    const processes = [1, 2].map(() => createUserTokens({ connector: makeConnector(), store }));
    const given = await Promise.all(
      processes.flatMap((each) => [each, each]).map((each) => each.accessToken(first.svcUserId)),
    );
    const stored = await store.load(first.svcUserId);
    expect(new Set(given)).toEqual(new Set([stored?.tokens.accessToken]));
    // One refresh per process.
    expect(oauth.tokenRequests.filter((form) => form.get('grant_type') === 'refresh_token')).toHaveLength(2);
    // The stored tokens are the newest generation: they can be refreshed.
    await expect(processes[0]?.accessToken(first.svcUserId, { rejected: given[0] })).resolves.toBeTypeOf('string');
  });

  test('keeps the tokens if the app itself is rejected', async () => {
    const tokens = await connect();
    const store = createMemoryTokenStore();
    const userTokens = createUserTokens({ connector: makeConnector({ clientSecret: 'svc_cs_wrong' }), store });
    await userTokens.save({ ...tokens, expiresAtMs: 0 });
    expect(await reasonOf(userTokens.accessToken(tokens.svcUserId))).toBe('misconfigured');
    expect(await store.load(tokens.svcUserId)).toBeDefined();
  });

  test('RFC 7009: revokes the refresh token', async () => {
    const tokens = await connect();
    await connector.revoke(tokens);
    expect(oauth.revoked).toEqual([tokens.refreshToken]);
  });
});
