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
  test('gives the app its tokens after sign-in and approval', async () => {
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

  test('states on the consent page if the publisher has a verified domain', async () => {
    const inEnglish = (await signIn({ locale: 'en' })).consent.text;
    expect(inEnglish).toContain('Not verified.');
    expect((await signIn({ locale: 'it' })).consent.text).toContain('Non verificato.');
    const now = new Date();
    const domain = 'xn--bcher-kva.example';
    const row = { user_id: owner.userId, domain, token: 'x', status: 'verified', created_at: now, verified_at: now };
    await service.database('publisher_domains').insert({ ...row, checked_at: now });
    const verified = (await signIn({ locale: 'en' })).consent.text;
    expect(verified).toMatch(
      /<svg class="shield"[^>]*aria-hidden="true".*Verified domain: <strong dir="ltr">xn--bcher-kva\.example</s,
    );
    expect(verified).not.toContain('Not verified.');
    await service.database('publisher_domains').delete();
  });

  test('RFC 6749 §4.1.2.1: redirects a denial with access_denied, state and iss', async () => {
    const { browser, consent } = await signIn();
    const answered = await browser.submit(consent, 'decision', { decision: 'deny' });
    expect(answered.status).toBe(303);
    expect(Object.fromEntries(new URL(answered.location ?? '').searchParams)).toEqual({
      error: 'access_denied',
      state: STATE,
      iss: service.url,
    });
  });

  test('stores nothing if the person leaves without signing in', async () => {
    const before = await service.database('denied_forms');
    const browser = newBrowser(service);
    const page = await browser.open(authorizePath(newVerifier()));
    const answered = await browser.submit(page, 'decision', { decision: 'deny' });
    expect(answered.location).toContain('error=access_denied');
    expect(await service.database('denied_forms')).toHaveLength(before.length);
  });

  test('opens an account during the flow', async () => {
    const browser = newBrowser(service);
    const page = await browser.open(`${authorizePath(newVerifier())}&prompt=create`);
    const email = newEmail();
    const consent = await browser.submit(page, 'sign-up', { email, password: PASSWORD, display_name: 'Ada' });
    expectPage(consent, 200);
    expect(consent.text).toContain(email);
    const answered = await browser.submit(consent, 'decision', { decision: 'approve' });
    expect(answered.location).toContain('code=svc_ac_');
  });

  test('recognizes a sign-in over JSON by its cookie', async () => {
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

  test('is in Italian unless English is requested', async () => {
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
  test('shows an alert for a wrong password, and keeps only the address', async () => {
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
  ])('names the fault of a sign-up with %s', async (_what, values, message) => {
    const browser = newBrowser(service);
    const page = await browser.open(`${authorizePath(newVerifier(), { locale: 'en' })}&prompt=create`);
    const again = await browser.submit(page, 'sign-up', values);
    expectPage(again, 200);
    expect(again.text).toContain(message);
    expect(browser.cookies.has('svc_session')).toBe(false);
  });

  test('names the fault of a sign-up with a taken address', async () => {
    const browser = newBrowser(service);
    const page = await browser.open(`${authorizePath(newVerifier(), { locale: 'en' })}&prompt=create`);
    const again = await browser.submit(page, 'sign-up', { email: person.email, password: PASSWORD });
    expect(again.text).toContain('already has an account');
  });

  test('asks again for the same request after a form has expired', async () => {
    const { browser, consent } = await signIn();
    service.clock.advanceMs(31 * 60_000);
    const again = await browser.submit(consent, 'decision', { decision: 'approve' });
    expectPage(again, 200);
    expect(again.text).toContain('decision');
    const answered = await browser.submit(again, 'decision', { decision: 'approve' });
    expect(answered.location).toContain(`state=${STATE}`);
  });

  test('a double click makes one redirect, one grant and one fact', async () => {
    const { browser, consent } = await signIn();
    const before = await service.database('grants').where({ user_id: person.userId });
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => browser.submitOnce(consent, 'decision', { decision: 'approve' })),
    );
    expect(new Set(answers.map(({ location }) => location)).size).toBe(1);
    expect(answers[0]?.location).toContain('code=svc_ac_');
    expect(await service.database('grants').where({ user_id: person.userId })).toHaveLength(before.length + 1);
  });

  test('keeps the connection if the person goes back after the app has used the code', async () => {
    const { browser, consent, verifier } = await signIn();
    const answered = await browser.submit(consent, 'decision', { decision: 'approve' });
    const code = new URL(answered.location ?? '').searchParams.get('code') ?? '';
    const tokens = await redeem(service, { app, code, verifier });
    expect(tokens.status).toBe(200);
    const again = await browser.submit(consent, 'decision', { decision: 'approve' });
    expectPage(again, 400);
    expect(again.text).toContain('Hai già deciso');
  });

  test('cannot approve a denied form, and redirects a second denial to the same address', async () => {
    const { browser, consent } = await signIn();
    const before = await service.database('grants').where({ user_id: person.userId });
    const denied = await browser.submit(consent, 'decision', { decision: 'deny' });
    const approved = await browser.submit(consent, 'decision', { decision: 'approve' });
    expectPage(approved, 400);
    expect(approved.text).toContain('Hai già deciso');
    expect((await browser.submit(consent, 'decision', { decision: 'deny' })).location).toBe(denied.location);
    expect(await service.database('grants').where({ user_id: person.userId })).toHaveLength(before.length);
  });

  test('asks a person who has meanwhile signed in in another tab', async () => {
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
  ])('returns 422 for %s %s', async (_what, name, value) => {
    const shown = await newBrowser(service).open(authorizePath(newVerifier(), { [name]: value }));
    expect(shown.status).toBe(422);
    expect(JSON.parse(shown.text).detail[0].loc).toEqual(['query', name]);
  });

  test('returns 422 for a repeated parameter', async () => {
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
  ])('RFC 9700 §4.11: shows a page and never redirects for %s', async (_what, over, code) => {
    const page = await newBrowser(service).open(authorizePath(newVerifier(), over));
    expectPage(page, 400);
    expect(page.location).toBeUndefined();
    const json = await newBrowser(service).open(authorizePath(newVerifier(), over), { accept: 'application/json' });
    expect(json.status).toBe(400);
    expect(JSON.parse(json.text).detail.code).toBe(code);
  });

  test('shows a page for a deactivated app, even in the middle of the flow', async () => {
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

  test.each(['sign-in', 'sign-up', 'sign-out', 'decision'])('changes nothing for a forged %s form', async (action) => {
    const { browser, consent } = await signIn();
    const stranger = newBrowser(service);
    const strangersPage = await stranger.open(authorizePath(newVerifier()));
    const foreign = /name="request" value="([^"]+)"/.exec(strangersPage.text)?.[1] ?? '';
    for (const request of ['', 'nonsense', foreign, `${foreign}x`, foreign.replace(/^./, 'A')]) {
      const forged = {
        ...consent,
        text: `<form action="/v1/integrations/oauth/interaction/${action}"><input type="hidden" name="request" value="${request}"></form>`,
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

  test('refuses a form with characters that no browser sends', async () => {
    const browser = newBrowser(service);
    const page = await browser.open(authorizePath(newVerifier()));
    expectPage(await browser.submit(page, 'sign-in', { email: 'a\0@b.example', password: PASSWORD }), 400);
  });

  test('shows an explanation to a browser without cookies', async () => {
    const page = await newBrowser(service).open(authorizePath(newVerifier()));
    const shown = await newBrowser(service).submit(page, 'sign-in', { email: person.email, password: PASSWORD });
    expectPage(shown, 400);
    expect(shown.text).toContain('cookie');
  });

  test('does not accept the cookie at a bearer endpoint', async () => {
    const { browser } = await signIn();
    const shown = await browser.open('/v1/console/session');
    expect(shown.status).toBe(401);
    expect((await browser.open('/v1/integrations/connections')).status).toBe(401);
  });
});

describe('hardening', () => {
  test('allows no script, foreign resource, frame, cache or CORS', async () => {
    const { consent } = await signIn();
    const policy = consent.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; img-src data:; font-src 'self'; form-action 'self' https:\/\/app\.example; frame-ancestors 'none'; base-uri 'none'$/,
    );
    expect(consent.headers.get('x-frame-options')).toBe('DENY');
    expect(consent.headers.get('cache-control')).toBe('no-store');
    expect(consent.headers.get('access-control-allow-origin')).toBeNull();
    expect(consent.headers.get('x-content-type-options')).toBe('nosniff');
    expect(consent.text).not.toMatch(
      /<script|javascript:|\son\w+=|<link(?! rel="(?:icon" href="data:|preload" as="font" type="font\/woff2" href="\/assets\/))|src="http/i,
    );
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

  test('renders an app’s name as text', async () => {
    const { consent } = await signIn();
    expect(consent.text).toContain('Notes &amp; &lt;b&gt;more&lt;/b&gt;');
    expect(consent.text).not.toContain('<b>more');
  });

  test.each(['نمی\u200cخواهم', '👩\u200d💻 Notes'])('keeps the joiners of the name %j', async (name) => {
    const joined = await newApp(service, owner, { name });
    const { consent } = await signIn({ client_id: joined.clientId, redirect_uri: joined.redirectUri });
    expect(consent.text).toContain(name);
  });

  test('RFC 8252 §7.1: allows a form to lead to a private scheme', async () => {
    const native = await newApp(service, owner, { redirect_uris: ['com.example.notes:/cb'] });
    const { browser, consent } = await signIn({ client_id: native.clientId, redirect_uri: 'com.example.notes:/cb' });
    expect(consent.headers.get('content-security-policy')).toContain("form-action 'self' com.example.notes:;");
    const answered = await browser.submit(consent, 'decision', { decision: 'approve' });
    expect(answered.location).toMatch(/^com\.example\.notes:\/cb\?code=svc_ac_/);
  });

  test('puts no forged Host header into links, and leads back on the host that the browser uses', async () => {
    const browser = newBrowser(service);
    const page = await browser.open(authorizePath(newVerifier()), { 'x-forwarded-host': 'evil.example' });
    const answered = await browser.submitOnce(page, 'sign-in', { email: person.email, password: PASSWORD });
    expect(answered.location).toMatch(/^\/v1\/integrations\/oauth\/authorize\?/);
    expect(page.text).not.toContain('evil.example');
  });
});
