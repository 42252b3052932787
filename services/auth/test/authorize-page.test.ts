import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, newEmail, startAuthService } from './support/auth-service.ts';
import { newBrowser, type Shown } from './support/browser.ts';
import { call } from './support/http.ts';
import {
  challengeOf,
  newApp,
  newPerson,
  newVerifier,
  PASSWORD,
  type Person,
  type RegisteredApp,
  redeem,
  STATE,
} from './support/partner.ts';

let service: AuthService;
let owner: Person;
let person: Person;
let app: RegisteredApp;

beforeAll(async () => {
  service = await startAuthService();
  owner = await newPerson(service, 'business');
  person = await newPerson(service);
  app = await newApp(service, owner, { name: 'Notes & <b>more</b>' });
});
afterAll(() => service.stop());

const authorizePath = (verifier: string, over: Record<string, string | undefined> = {}): string => {
  const parameters: Record<string, string | undefined> = {
    client_id: app.clientId,
    redirect_uri: app.redirectUri,
    code_challenge: challengeOf(verifier),
    state: STATE,
    ...over,
  };
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return `/v1/integrations/oauth/authorize?${new URLSearchParams(given)}`;
};

const expectPage = (shown: Shown, status: number): void => {
  expect(shown.status).toBe(status);
  expect(shown.headers.get('content-type')).toBe('text/html; charset=utf-8');
};

const signIn = async (over: Record<string, string> = {}) => {
  const browser = newBrowser(service);
  const verifier = newVerifier();
  const page = await browser.open(authorizePath(verifier, over));
  const consent = await browser.submit(page, 'sign-in', { email: person.email, password: PASSWORD });
  return { browser, verifier, consent };
};

describe('the journey', () => {
  test('sign in, approve, and the app has its tokens', async () => {
    const { browser, verifier, consent } = await signIn();
    expectPage(consent, 200);
    expect(consent.text).toContain('Acme');
    expect(consent.text).toContain('app.example');
    expect(consent.text).toContain(person.email);
    const answered = await browser.submit(consent, 'decision', { decision: 'approve' });
    expect(answered.status).toBe(303);
    const target = new URL(answered.location ?? '');
    expect(target.origin + target.pathname).toBe(app.redirectUri);
    expect(Object.fromEntries(target.searchParams)).toEqual({
      code: expect.stringMatching(/^svc_ac_/),
      state: STATE,
      iss: service.url,
    });
    const tokens = await redeem(service, { app, code: target.searchParams.get('code') ?? '', verifier });
    expect(tokens.body).toMatchObject({ svc_user_id: person.userId, scope: 'inference usage:read' });
  });

  test('the consent page says in words whether the publisher has a verified domain', async () => {
    const inEnglish = (await signIn({ locale: 'en' })).consent.text;
    expect(inEnglish).toContain('Not verified.');
    expect((await signIn({ locale: 'it' })).consent.text).toContain('Non verificato.');
    const [now, domain] = [new Date(), 'xn--bcher-kva.example'];
    const row = { user_id: owner.userId, domain, token: 'x', status: 'verified', created_at: now, verified_at: now };
    await service.database('publisher_domains').insert({ ...row, checked_at: now });
    const verified = (await signIn({ locale: 'en' })).consent.text;
    expect(verified).toMatch(
      /<svg class="shield"[^>]*aria-hidden="true".*Verified domain: <strong dir="ltr">xn--bcher-kva\.example</s,
    );
    expect(verified).not.toContain('Not verified.');
    await service.database('publisher_domains').delete();
  });

  test('RFC 6749 §4.1.2.1: denying goes back with access_denied, state and iss', async () => {
    const { browser, consent } = await signIn();
    const answered = await browser.submit(consent, 'decision', { decision: 'deny' });
    expect(answered.status).toBe(303);
    expect(Object.fromEntries(new URL(answered.location ?? '').searchParams)).toEqual({
      error: 'access_denied',
      state: STATE,
      iss: service.url,
    });
  });

  test('one can leave without signing in, which stores nothing', async () => {
    const before = await service.database('denied_forms');
    const browser = newBrowser(service);
    const page = await browser.open(authorizePath(newVerifier()));
    const answered = await browser.submit(page, 'decision', { decision: 'deny' });
    expect(answered.location).toContain('error=access_denied');
    expect(await service.database('denied_forms')).toHaveLength(before.length);
  });

  test('sign up on the way', async () => {
    const browser = newBrowser(service);
    const page = await browser.open(`${authorizePath(newVerifier())}&prompt=create`);
    const email = newEmail();
    const consent = await browser.submit(page, 'sign-up', { email, password: PASSWORD, display_name: 'Ada' });
    expectPage(consent, 200);
    expect(consent.text).toContain(email);
    const answered = await browser.submit(consent, 'decision', { decision: 'approve' });
    expect(answered.location).toContain('code=svc_ac_');
  });

  test('a sign-in over JSON is recognised by its cookie', async () => {
    const session = await call(`${service.url}/v1/console/sessions`, {
      json: { email: person.email, password: PASSWORD },
    });
    const browser = newBrowser(service);
    const cookie = session.headers.getSetCookie().find((header) => header.startsWith('svc_session='));
    expect(cookie).toMatch(/; Path=\/v1\/integrations\/oauth; Max-Age=43200; HttpOnly; SameSite=Lax$/);
    browser.cookies.set('svc_session', /=([^;]+)/.exec(cookie ?? '')?.[1] ?? '');
    const consent = await browser.open(authorizePath(newVerifier()));
    expect(consent.text).toContain(person.email);
  });

  test('"not you?" ends the session and asks for another sign-in', async () => {
    const { browser, consent } = await signIn();
    const token = browser.cookies.get('svc_session');
    const page = await browser.submit(consent, 'sign-out');
    expect(page.text).toContain('name="password"');
    expect(browser.cookies.has('svc_session')).toBe(false);
    expect((await call(`${service.url}/v1/console/session`, { token })).status).toBe(401);
    expect(await service.outbox()).toContainEqual(
      expect.objectContaining({ subject: expect.stringMatching(/^\$KV\.revocations\.session\.ses_/) }),
    );
  });

  test('the page is in Italian unless English is asked for', async () => {
    const browser = newBrowser(service);
    const italian = await browser.open(authorizePath(newVerifier()));
    expect(italian.text).toContain('<html lang="it">');
    expect(italian.text).toContain('Accedi');
    const english = await browser.open(authorizePath(newVerifier(), { locale: 'en' }));
    expect(english.text).toContain('<html lang="en">');
    expect(english.text).toContain('Sign in');
  });
});

describe('kindness', () => {
  test('a wrong password is said in an alert, with the address kept and the password not', async () => {
    const browser = newBrowser(service);
    const page = await browser.open(authorizePath(newVerifier(), { locale: 'en' }));
    const again = await browser.submit(page, 'sign-in', { email: person.email, password: 'wrong & <wrong>' });
    expectPage(again, 200);
    expect(again.text).toContain('role="alert"');
    expect(again.text).toContain('aria-invalid="true"');
    expect(again.text).toContain(`value="${person.email}"`);
    expect(again.text).not.toContain('wrong &amp;');
    const consent = await browser.submit(again, 'sign-in', { email: person.email, password: PASSWORD });
    expect(consent.text).toContain('Allow');
  });

  test.each([
    ['no address', { email: 'nobody', password: PASSWORD }, 'valid email'],
    ['a short password', { email: 'a@b.example', password: 'short' }, '12 to 128'],
    ['a common password', { email: 'a@b.example', password: 'password1234' }, 'too easy to guess'],
    ['a long name', { email: 'a@b.example', password: PASSWORD, display_name: 'x'.repeat(81) }, 'at most 80'],
  ])('signing up with %s says what is wrong', async (_what, values, message) => {
    const browser = newBrowser(service);
    const page = await browser.open(`${authorizePath(newVerifier(), { locale: 'en' })}&prompt=create`);
    const again = await browser.submit(page, 'sign-up', values);
    expectPage(again, 200);
    expect(again.text).toContain(message);
    expect(browser.cookies.has('svc_session')).toBe(false);
  });

  test('signing up with an address that is taken says so', async () => {
    const browser = newBrowser(service);
    const page = await browser.open(`${authorizePath(newVerifier(), { locale: 'en' })}&prompt=create`);
    const again = await browser.submit(page, 'sign-up', { email: person.email, password: PASSWORD });
    expect(again.text).toContain('exists already');
  });

  test('a form that lay open too long asks again for the same request', async () => {
    const { browser, consent } = await signIn();
    service.clock.advanceMs(31 * 60_000);
    const again = await browser.submit(consent, 'decision', { decision: 'approve' });
    expectPage(again, 200);
    expect(again.text).toContain('decision');
    const answered = await browser.submit(again, 'decision', { decision: 'approve' });
    expect(answered.location).toContain(`state=${STATE}`);
  });

  test('a double click leads to one place, one grant and one fact', async () => {
    const { browser, consent } = await signIn();
    const before = await service.database('grants').where({ user_id: person.userId });
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => browser.submitOnce(consent, 'decision', { decision: 'approve' })),
    );
    expect(new Set(answers.map(({ location }) => location)).size).toBe(1);
    expect(answers[0]?.location).toContain('code=svc_ac_');
    expect(await service.database('grants').where({ user_id: person.userId })).toHaveLength(before.length + 1);
  });

  test('the back button after the app has used the code does not end the connection', async () => {
    const { browser, consent, verifier } = await signIn();
    const answered = await browser.submit(consent, 'decision', { decision: 'approve' });
    const code = new URL(answered.location ?? '').searchParams.get('code') ?? '';
    const tokens = await redeem(service, { app, code, verifier });
    expect(tokens.status).toBe(200);
    const again = await browser.submit(consent, 'decision', { decision: 'approve' });
    expectPage(again, 400);
    expect(again.text).toContain('Hai già deciso');
  });

  test('a form that was denied approves nothing any more, and denied once more leads to the same place', async () => {
    const { browser, consent } = await signIn();
    const before = await service.database('grants').where({ user_id: person.userId });
    const denied = await browser.submit(consent, 'decision', { decision: 'deny' });
    const approved = await browser.submit(consent, 'decision', { decision: 'approve' });
    expectPage(approved, 400);
    expect(approved.text).toContain('Hai già deciso');
    expect((await browser.submit(consent, 'decision', { decision: 'deny' })).location).toBe(denied.location);
    expect(await service.database('grants').where({ user_id: person.userId })).toHaveLength(before.length);
  });

  test('whoever signed in meanwhile in another tab is asked, not decided for', async () => {
    const { browser, consent } = await signIn();
    const other = await newPerson(service);
    const session = await call(`${service.url}/v1/console/sessions`, {
      json: { email: other.email, password: PASSWORD },
    });
    const cookie = session.headers.getSetCookie()[0] ?? '';
    browser.cookies.set('svc_session', /=([^;]+)/.exec(cookie)?.[1] ?? '');
    const asked = await browser.submit(consent, 'decision', { decision: 'approve' });
    expectPage(asked, 200);
    expect(asked.text).toContain(other.email);
    expect(await service.database('connections').where({ user_id: other.userId })).toEqual([]);
  });
});

describe('refusing', () => {
  test.each([
    ['an absent', 'client_id', undefined],
    ['an absent', 'redirect_uri', undefined],
    ['an absent', 'code_challenge', undefined],
    ['an absent', 'state', undefined],
    ['a short', 'state', 'short'],
    ['a long', 'state', 'x'.repeat(513)],
    ['another', 'response_type', 'token'],
    ['a weak', 'code_challenge_method', 'plain'],
    ['a short', 'code_challenge', 'too-short'],
    ['an unknown', 'locale', 'de'],
    ['a long', 'redirect_uri', `https://app.example/${'x'.repeat(2048)}`],
  ])('%s %s is 422', async (_what, name, value) => {
    const shown = await newBrowser(service).open(authorizePath(newVerifier(), { [name]: value }));
    expect(shown.status).toBe(422);
    expect(JSON.parse(shown.text).detail[0].loc).toEqual(['query', name]);
  });

  test('a repeated parameter is 422', async () => {
    const shown = await newBrowser(service).open(`${authorizePath(newVerifier())}&redirect_uri=https://evil.example/`);
    expect(shown.status).toBe(422);
  });

  test.each([
    ['an unknown app', { client_id: 'app_unknown' }, 'unknown_app'],
    ['a redirect URI that is not registered', { redirect_uri: 'https://evil.example/' }, 'redirect_uri_not_registered'],
    [
      'a redirect URI with a suffix',
      { redirect_uri: 'https://app.example/callback/..' },
      'redirect_uri_not_registered',
    ],
  ])('RFC 9700 §4.11: %s gets a page and never a redirect', async (_what, over, code) => {
    const page = await newBrowser(service).open(authorizePath(newVerifier(), over));
    expectPage(page, 400);
    expect(page.location).toBeUndefined();
    const json = await newBrowser(service).open(authorizePath(newVerifier(), over), { accept: 'application/json' });
    expect(json.status).toBe(400);
    expect(JSON.parse(json.text).detail.code).toBe(code);
  });

  test('a deactivated app gets a page, also in the middle of the flow', async () => {
    const fading = await newApp(service, owner);
    const { browser, consent } = await signIn({ client_id: fading.clientId });
    await call(`${service.url}/v1/integrations/apps/${fading.clientId}`, {
      method: 'PATCH',
      token: owner.token,
      json: { active: false },
    });
    const refused = await browser.submit(consent, 'decision', { decision: 'approve' });
    expectPage(refused, 400);
    const json = await browser.open(authorizePath(newVerifier(), { client_id: fading.clientId }), {
      accept: 'application/json',
    });
    expect(JSON.parse(json.text).detail.code).toBe('app_inactive');
  });

  test.each(['sign-in', 'sign-up', 'sign-out', 'decision'])('a forged %s form changes nothing', async (action) => {
    const { browser, consent } = await signIn();
    const stranger = newBrowser(service);
    const strangersPage = await stranger.open(authorizePath(newVerifier()));
    const foreign = /name="request" value="([^"]+)"/.exec(strangersPage.text)?.[1] ?? '';
    for (const request of ['', 'nonsense', foreign, `${foreign}x`, foreign.replace(/^./, 'A')]) {
      const forged = {
        ...consent,
        text: `<form action="/${action}"><input type="hidden" name="request" value="${request}"`,
      };
      const shown = await browser.submitOnce(
        request === '' ? { ...forged, text: forged.text.replace('value=""', 'value="-"') } : forged,
        action,
        { decision: 'approve', email: person.email, password: PASSWORD },
      );
      expectPage(shown, 400);
    }
    expect((await browser.open(authorizePath(newVerifier()))).text).toContain(person.email);
  });

  test('a form with characters that no browser sends is refused', async () => {
    const browser = newBrowser(service);
    const page = await browser.open(authorizePath(newVerifier()));
    expectPage(await browser.submit(page, 'sign-in', { email: 'a\0@b.example', password: PASSWORD }), 400);
  });

  test('a browser without cookies gets a page that says so', async () => {
    const page = await newBrowser(service).open(authorizePath(newVerifier()));
    const shown = await newBrowser(service).submit(page, 'sign-in', { email: person.email, password: PASSWORD });
    expectPage(shown, 400);
    expect(shown.text).toContain('cookie');
  });

  test('a bearer endpoint does not take the cookie', async () => {
    const { browser } = await signIn();
    const shown = await browser.open('/v1/console/session');
    expect(shown.status).toBe(401);
    expect((await browser.open('/v1/integrations/connections')).status).toBe(401);
  });
});

describe('hardening', () => {
  test('no script, no outside resource, no frame, no cache, no CORS', async () => {
    const { consent } = await signIn();
    const policy = consent.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; img-src data:; form-action 'self' https:\/\/app\.example; frame-ancestors 'none'; base-uri 'none'$/,
    );
    expect(consent.headers.get('x-frame-options')).toBe('DENY');
    expect(consent.headers.get('cache-control')).toBe('no-store');
    expect(consent.headers.get('access-control-allow-origin')).toBeNull();
    expect(consent.headers.get('x-content-type-options')).toBe('nosniff');
    expect(consent.text).not.toMatch(/<script|javascript:|\son\w+=|<link(?! rel="icon" href="data:)|src="http/i);
  });

  test('runs one script on the sign-in page, allowed by a nonce that no other page has', async () => {
    const pages = await Promise.all([1, 2].map(() => newBrowser(service).open(authorizePath(newVerifier()))));
    const nonces = pages.map(({ headers, text }) => {
      const [, nonce] = /; script-src 'nonce-([\w+/]{24})'$/.exec(headers.get('content-security-policy') ?? '') ?? [];
      expect(text.match(/<script/g)).toHaveLength(1);
      expect(text).toContain(`<script nonce="${nonce}">`);
      return nonce;
    });
    expect(new Set(nonces).size).toBe(2);
  });

  test('what an app calls itself is text', async () => {
    const { consent } = await signIn();
    expect(consent.text).toContain('Notes &amp; &lt;b&gt;more&lt;/b&gt;');
    expect(consent.text).not.toContain('<b>more');
  });

  test('RFC 8252 §7.1: the policy lets a form lead to a private scheme', async () => {
    const native = await newApp(service, owner, { redirect_uris: ['com.example.notes:/cb'] });
    const { browser, consent } = await signIn({ client_id: native.clientId, redirect_uri: 'com.example.notes:/cb' });
    expect(consent.headers.get('content-security-policy')).toContain("form-action 'self' com.example.notes:;");
    const answered = await browser.submit(consent, 'decision', { decision: 'approve' });
    expect(answered.location).toMatch(/^com\.example\.notes:\/cb\?code=svc_ac_/);
  });

  test('a forged Host header reaches neither links nor redirects', async () => {
    const browser = newBrowser(service);
    const page = await browser.open(authorizePath(newVerifier()), { 'x-forwarded-host': 'evil.example' });
    const answered = await browser.submitOnce(page, 'sign-in', { email: person.email, password: PASSWORD });
    expect(answered.location?.startsWith(`${service.url}/v1/integrations/oauth/authorize?`)).toBe(true);
    expect(page.text).not.toContain('evil.example');
  });
});
