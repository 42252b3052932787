import { freePort } from '@svc/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AuthService, newEmail, startAuthService } from './support/auth-service.ts';
import { type Browser, newBrowser, type Shown } from './support/browser.ts';
import { call, textAt } from './support/http.ts';
import { challengeOf, connect, newApp, newPerson, newVerifier, PASSWORD, refresh } from './support/partner.ts';
import { passUpstream, signInUpstream, startUpstream, UPSTREAM_CLIENT, type Upstream } from './support/upstream.ts';

let service: AuthService;
let upstream: Upstream;

beforeAll(async () => {
  const port = await freePort();
  const upstreamPort = await freePort();
  upstream = await startUpstream(upstreamPort, `http://127.0.0.1:${port}/v1/console/sso/callback`);
  const sso = {
    SSO_ISSUER: upstream.issuer,
    SSO_CLIENT_ID: UPSTREAM_CLIENT.id,
    SSO_CLIENT_SECRET: UPSTREAM_CLIENT.secret,
    SSO_NAME: 'Acme & Figli',
  };
  service = await startAuthService(sso, undefined, port);
});
afterAll(async () => {
  await service.stop();
  await upstream.stop();
});
beforeEach(() => {
  upstream.isHanging = false;
  upstream.person = newUpstreamPerson();
});

const newUpstreamPerson = () => ({ sub: newEmail(), email: newEmail(), email_verified: true, name: 'Ada' });
const START = '/v1/console/sso/start';
const CALLBACK = '/v1/console/sso/callback';

const throughUpstream = (browser: Browser, start?: string) => passUpstream({ service, upstream }, browser, start);
const signIn = (browser = newBrowser(service), start?: string) => signInUpstream({ service, upstream }, browser, start);

const accountOf = async (browser: Browser) => {
  const answer = await call(`${service.url}/v1/console/session/resume`, {
    method: 'POST',
    headers: { cookie: `svc_console=${browser.cookies.get('svc_console') ?? ''}` },
  });
  return { answer, userId: answer.status === 200 ? textAt(answer, 'account', 'svc_user_id') : undefined };
};
const expectRefused = (shown: Shown, code = 'sso_failed', status = 401) => {
  expect([shown.status, JSON.parse(shown.text).detail.code]).toEqual([status, code]);
};

describe('GET /v1/console/sso/start', () => {
  test('success: sends state, nonce and PKCE to the provider; the browser keeps them sealed', async () => {
    const browser = newBrowser(service);
    const shown = await browser.openOnce(START);
    expect(shown.status).toBe(303);
    const url = new URL(shown.location ?? '');
    expect(url.origin).toBe(upstream.issuer);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      client_id: UPSTREAM_CLIENT.id,
      redirect_uri: `${service.url}${CALLBACK}`,
      response_type: 'code',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
    const [cookie = ''] = shown.headers.getSetCookie();
    expect(cookie).toMatch(/^svc_sso=[\w-]+; Path=\/v1\/console\/sso; Max-Age=600; HttpOnly; SameSite=Lax$/);
    expect(Buffer.from(cookie, 'base64url').toString('latin1')).not.toContain(url.searchParams.get('state'));
  });

  test.each(['https://evil.example/', '//evil.example', '/\\evil.example', 'evil', '/a b', `/${'x'.repeat(1_800)}`])(
    'RFC 9700 §4.11: refuses return_to=%s, which is no path of ours',
    async (returnTo) => {
      const answer = await call(`${service.url}${START}?${new URLSearchParams({ return_to: returnTo })}`);
      expect(answer.status).toBe(422);
      expect(answer.body).toMatchObject({ detail: [{ loc: ['query', 'return_to'] }] });
    },
  );
});

describe('GET /v1/console/sso/callback', () => {
  test('success: opens a personal account without a password, signs in, and finds it again', async () => {
    const browser = newBrowser(service);
    const shown = await signIn(browser);
    expect([shown.status, shown.location]).toEqual([303, `${service.url}/`]);
    const { answer, userId } = await accountOf(browser);
    expect(answer.body).toMatchObject({
      account: { email: upstream.person?.email, account_type: 'personal', display_name: 'Ada' },
    });
    expect(await service.outbox(`account:${userId}`)).toHaveLength(1);
    expect(browser.cookies.has('svc_sso')).toBe(false);
    const byPassword = await call(`${service.url}/v1/console/sessions`, {
      json: { email: upstream.person?.email, password: PASSWORD },
    });
    expect(byPassword.status).toBe(401);

    // The identity, not the address, is what is found again.
    upstream.person = { sub: upstream.person?.sub ?? '', email: newEmail(), email_verified: false };
    const again = newBrowser(service);
    await signIn(again);
    expect((await accountOf(again)).userId).toBe(userId);
  });

  test('success: links the account with the verified address, and locks out the person who signed up unverified', async () => {
    const person = await newPerson(service, 'business');
    upstream.person = { ...newUpstreamPerson(), email: person.email.toUpperCase() };
    const browser = newBrowser(service);
    await signIn(browser);
    expect((await accountOf(browser)).userId).toBe(person.userId);
    const old = await call(`${service.url}/v1/console/session`, { token: person.token });
    expect(old.status).toBe(401);
    const byPassword = await call(`${service.url}/v1/console/sessions`, {
      json: { email: person.email, password: PASSWORD },
    });
    expect(byPassword.status).toBe(401);
    expect(await service.outbox(`revocation:account.${person.userId}`)).toHaveLength(1);
  });

  test('voids the links with which the person who signed up unverified could change the address', async () => {
    const stranger = await newPerson(service);
    const change = { current_password: PASSWORD, email: newEmail() };
    const asked = await call(`${service.url}/v1/console/account/email`, { token: stranger.token, json: change });
    expect(asked.status).toBe(202);
    const links = () => service.database('mailed_tokens').where({ user_id: stranger.userId }).pluck('purpose');
    expect((await links()).toSorted()).toEqual(['confirm_email', 'undo_email', 'verify_email']);
    upstream.person = { ...newUpstreamPerson(), email: stranger.email };
    await signIn();
    expect(await links()).toEqual([]);
  });

  test('ends the grants and API keys of the person who signed up with an address that is not theirs', async () => {
    const app = await newApp(service, await newPerson(service, 'business'));
    const stranger = await newPerson(service);
    const granted = await connect(service, { app, person: stranger });
    upstream.person = { ...newUpstreamPerson(), email: stranger.email };
    const browser = newBrowser(service);
    await signIn(browser);
    expect((await accountOf(browser)).userId).toBe(stranger.userId);
    expect((await refresh(service, { app, token: granted.refreshToken })).status).toBe(400);
    expect(await service.outbox(`revocation:grant.${granted.grantId}`)).toHaveLength(1);
    expect(await service.outbox(`revocation:keys.${stranger.userId}`)).toHaveLength(1);
    const facts = (await service.outbox()).filter(
      ({ subject, payload }) =>
        subject === 'auth.account.access_ended.v1' && payload['svc_user_id'] === stranger.userId,
    );
    expect(facts).toHaveLength(1);
  });

  test.each([
    ['says that it is not verified', { email_verified: false }],
    ['says nothing of verification', { email_verified: undefined }],
    ['names no address', { email: undefined }],
    ['names what is no address', { email: 'nobody' }],
  ])('forbidden: the provider %s, so no account is signed in, linked or opened', async (_what, over) => {
    const person = await newPerson(service);
    const { email_verified, email } = { email_verified: true, email: person.email, ...over };
    upstream.person = {
      sub: newEmail(),
      ...(email === undefined ? {} : { email }),
      ...(email_verified === undefined ? {} : { email_verified }),
    };
    const browser = newBrowser(service);
    expectRefused(await signIn(browser));
    expect(browser.cookies.has('svc_console')).toBe(false);
    expect((await call(`${service.url}/v1/console/session`, { token: person.token })).status).toBe(200);
  });

  test('RFC 9700 §4.7: refuses an answer for another browser', async () => {
    const stolen = await throughUpstream(newBrowser(service));
    expectRefused(await newBrowser(service).openOnce(stolen));
    const victim = newBrowser(service);
    await victim.openOnce(START);
    expectRefused(await victim.openOnce(stolen));
  });

  test('replay: accepts an answer once', async () => {
    const browser = newBrowser(service);
    const url = await throughUpstream(browser);
    const attempt = browser.cookies.get('svc_sso') ?? '';
    expect((await browser.openOnce(url)).status).toBe(303);
    expectRefused(await browser.openOnce(url));
    browser.cookies.set('svc_sso', attempt);
    expectRefused(await browser.openOnce(url));
  });

  test('RFC 9207 §2.4: refuses an answer with another issuer, or without a code', async () => {
    for (const change of [{ iss: 'https://evil.example' }, { code: 'x' }, { state: 'x' }]) {
      const browser = newBrowser(service);
      const url = new URL(await throughUpstream(browser));
      for (const [name, value] of Object.entries(change)) url.searchParams.set(name, value);
      expectRefused(await browser.openOnce(url.href));
    }
  });

  test('refuses a changed cookie, and an attempt older than ten minutes', async () => {
    const browser = newBrowser(service);
    const url = await throughUpstream(browser);
    const cookie = browser.cookies.get('svc_sso') ?? '';
    browser.cookies.set('svc_sso', `${cookie.slice(0, -2)}AA`);
    expectRefused(await browser.openOnce(url));
    browser.cookies.set('svc_sso', cookie);
    service.clock.advanceMs(10 * 60_000);
    expectRefused(await browser.openOnce(url));
  });

  test('returns a person who cancels at the provider to their page, signed out', async () => {
    upstream.person = undefined;
    const browser = newBrowser(service);
    const shown = await signIn(browser, `${START}?return_to=${encodeURIComponent('/apps?x=1')}`);
    expect([shown.status, shown.location]).toEqual([303, `${service.url}/apps?x=1`]);
    expect(browser.cookies.has('svc_console')).toBe(false);
  });

  test('opens one account for two concurrent tabs', async () => {
    const a = newBrowser(service);
    const b = newBrowser(service);
    const urls = await Promise.all([throughUpstream(a), throughUpstream(b)]);
    await Promise.all([a.openOnce(urls[0]), b.openOnce(urls[1])]);
    const [first, second] = await Promise.all([accountOf(a), accountOf(b)]);
    expect(first.userId).toBeDefined();
    expect(second.userId).toBe(first.userId);
  });

  test('refuses the sign-in if the provider never answers', async () => {
    const browser = newBrowser(service);
    const url = await throughUpstream(browser);
    upstream.isHanging = true;
    expectRefused(await browser.openOnce(url));
  });
});

test('is offered on the authorize page, which asks for consent afterwards', async () => {
  const app = await newApp(service, await newPerson(service, 'business'));
  const query = new URLSearchParams({
    client_id: app.clientId,
    redirect_uri: app.redirectUri,
    code_challenge: challengeOf(newVerifier()),
    state: 'state-of-sixteen-and-more',
    locale: 'en',
  });
  const browser = newBrowser(service);
  const page = await browser.open(`/v1/integrations/oauth/authorize?${query}`);
  const link = /href="(\/v1\/console\/sso\/start[^"]*)"/.exec(page.text)?.[1] ?? '';
  const shown = await signIn(browser, link.replaceAll('&amp;', '&'));
  const consent = await browser.open(shown.location ?? '');
  expect(consent.text).toContain(upstream.person?.email);
  expect(consent.text).toContain('Test app');
});

test('is shown to the console, and offered by name on the authorize page', async () => {
  const status = await call(`${service.url}/v1/console/sso`);
  expect([status.status, status.body]).toEqual([200, { enabled: true, name: 'Acme & Figli' }]);
  const app = await newApp(service, await newPerson(service, 'business'));
  const query = new URLSearchParams({
    client_id: app.clientId,
    redirect_uri: app.redirectUri,
    state: 'state-of-sixteen-and-more',
    code_challenge: challengeOf(newVerifier()),
    locale: 'it',
  });
  const page = await newBrowser(service).open(`/v1/integrations/oauth/authorize?${query}`);
  expect(page.text).toContain('Accedi con Acme &amp; Figli');
});

describe('without configuration', () => {
  test('both endpoints return 404 and the page does not offer it', async () => {
    const plain = await startAuthService();
    try {
      const status = await call(`${plain.url}/v1/console/sso`);
      expect([status.status, status.body]).toEqual([200, { enabled: false, name: null }]);
      for (const path of [START, CALLBACK]) {
        const answer = await call(`${plain.url}${path}`);
        expect([answer.status, textAt(answer, 'detail', 'code')]).toEqual([404, 'sso_not_configured']);
      }
    } finally {
      await plain.stop();
    }
  });

  test('does not start with an incomplete configuration or a plain-text issuer', async () => {
    await expect(startAuthService({ SSO_ISSUER: 'https://id.example' })).rejects.toThrow(/SSO_CLIENT_ID/);
    const all = { SSO_CLIENT_ID: 'a', SSO_CLIENT_SECRET: 'b' };
    await expect(startAuthService({ ...all, SSO_ISSUER: 'http://id.example' })).rejects.toThrow(/SSO_ISSUER/);
  });
});
