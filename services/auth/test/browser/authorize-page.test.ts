import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AuthService, newEmail, startAuthService } from '../support/auth-service.ts';
import {
  type CallbackPage,
  type Chromium,
  chromiumPath,
  inspectPage,
  startCallbackPage,
  startChromium,
} from '../support/chromium.ts';
import { call, textAt } from '../support/http.ts';
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
} from '../support/partner.ts';

/** The authorize pages as a person meets them, in a real browser. */

// A browser on a busy machine takes its time.
describe.skipIf(chromiumPath === undefined)('the authorize pages in a browser', { timeout: 120_000 }, () => {
  let service: AuthService;
  let chromium: Chromium;
  let partner: CallbackPage;
  let owner: Person;
  let person: Person;
  let app: RegisteredApp;
  let verifier: string;

  beforeAll(async () => {
    service = await startAuthService();
    partner = await startCallbackPage();
    chromium = await startChromium([service.url, partner.origin]);
    owner = await newPerson(service, 'business');
    app = await newApp(service, owner, {
      name: 'Quaderno',
      client_type: 'confidential',
      redirect_uris: [partner.redirectUri],
      homepage_url: 'https://quaderno.example/',
      privacy_policy_url: 'https://quaderno.example/privacy',
    });
  });
  beforeEach(async () => {
    person = await newPerson(service);
    verifier = newVerifier();
    partner.callbacks.length = 0;
  });
  // Also where a test has looked at something else: no page breaks its own policy or asks anybody else for anything.
  afterEach(() => expect(chromium.complaints.splice(0)).toEqual([]));
  afterAll(async () => {
    await chromium.close();
    partner.close();
    await service.stop();
  });

  const address = (over: Record<string, string> = {}): string => {
    const query = {
      client_id: app.clientId,
      redirect_uri: partner.redirectUri,
      code_challenge: challengeOf(verifier),
      state: STATE,
      locale: 'en',
      ...over,
    };
    return `${service.url}/v1/integrations/oauth/authorize?${new URLSearchParams(query)}`;
  };
  const signIn = async (page: Page, email = person.email, password = PASSWORD): Promise<void> => {
    await page.getByLabel(/Email address|Indirizzo email/).fill(email);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: /^(Sign in|Accedi)$/ }).click();
  };
  const openConsent = async (over: Record<string, string> = {}): Promise<Page> => {
    const page = await chromium.open(address(over));
    await signIn(page);
    await page.getByRole('heading', { name: /Quaderno/, level: 1 }).waitFor();
    return page;
  };
  const allow = (page: Page) => page.getByRole('button', { name: /^(Allow|Consenti)$/ });
  const callback = async (page: Page): Promise<URLSearchParams> => {
    await page.waitForURL(/\/callback/);
    return partner.callbacks.at(-1)?.searchParams ?? new URLSearchParams();
  };
  const grantsOf = async (who: Person) => await service.database('grants').where({ user_id: who.userId });

  test('gives the app its tokens after sign-in and approval, and shows who asks, for what, and who pays', async () => {
    const page = await openConsent();
    const main = page.getByRole('main');
    for (const text of ['Acme', person.email, new URL(partner.origin).host, 'Your subscription pays', 'It can never']) {
      expect(await main.getByText(text).first().isVisible()).toBe(true);
    }
    expect(await main.getByRole('listitem').count()).toBe(4);
    await allow(page).click();
    const answer = await callback(page);
    expect([answer.get('state'), answer.get('iss')]).toEqual([STATE, service.url]);
    const tokens = await redeem(service, { app, code: answer.get('code') ?? '', verifier });
    expect(textAt(tokens, 'svc_user_id')).toBe(person.userId);
  });

  test.each([
    [390, 844],
    [1440, 900],
  ])('keeps the decision in view at %i by %i, and covers nothing at the end of the page', async (width, height) => {
    const page = await openConsent();
    await page.setViewportSize({ width, height });
    const bottomOf = async (name: string) => {
      const box = await page.getByRole('button', { name }).boundingBox();
      return (box?.y ?? Number.NaN) + (box?.height ?? 0);
    };
    expect(await page.evaluate('document.documentElement.scrollHeight')).toBeGreaterThan(height);
    for (const name of ['Allow', 'Deny']) expect(await bottomOf(name)).toBeLessThanOrEqual(height);
    await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    const limit = await page.getByLabel('Spend at most').boundingBox();
    const allow = await page.getByRole('button', { name: 'Allow' }).boundingBox();
    expect((limit?.y ?? Number.NaN) + (limit?.height ?? 0)).toBeLessThan(allow?.y ?? Number.NaN);
  });

  test('shows that an app which only reads limits costs nothing', async () => {
    const page = await openConsent({ scope: 'usage:read' });
    expect(await page.getByText('It costs nothing').isVisible()).toBe(true);
    expect(await page.getByText('Your subscription pays').count()).toBe(0);
  });

  test('redirects a denial with access_denied, state and iss, and stores nothing', async () => {
    const page = await openConsent();
    await page.getByRole('button', { name: 'Deny' }).click();
    const answer = await callback(page);
    expect(Object.fromEntries(answer)).toEqual({ error: 'access_denied', state: STATE, iss: service.url });
    expect(await grantsOf(person)).toEqual([]);
  });

  test('lets a person leave before signing in', async () => {
    const page = await chromium.open(address());
    await page.getByRole('button', { name: /Cancel/ }).click();
    expect((await callback(page)).get('error')).toBe('access_denied');
  });

  test('opens an account during the flow, and names the fault of each field', async () => {
    const page = await chromium.open(address());
    await page.getByRole('link', { name: 'Create one' }).click();
    const email = newEmail();
    await page.getByLabel('Email address').fill(email);
    await page.getByLabel(/^Password/).fill('password1234');
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('alert').getByText('too easy to guess').waitFor();
    expect(await page.getByLabel('Email address').inputValue()).toBe(email);
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('password');
    await page.getByLabel(/^Password/).fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByText(email).waitFor();
    await allow(page).click();
    expect((await callback(page)).get('code')).toMatch(/^svc_ac_/);
  });

  test('announces a wrong password, keeps the address but not the password, and accepts the right one', async () => {
    const page = await chromium.open(address());
    await signIn(page, person.email, 'certainly not this one');
    await page.getByRole('alert').getByText('The email address or the password is wrong').waitFor();
    expect(await page.getByLabel('Email address').inputValue()).toBe(person.email);
    expect(await page.getByLabel('Password').inputValue()).toBe('');
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('password');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await allow(page).waitFor();
  });

  test('"not you?" signs out and asks who it is', async () => {
    const page = await openConsent();
    await page.getByRole('button', { name: 'Not you?' }).click();
    const other = await newPerson(service);
    await signIn(page, other.email);
    await page.getByText(other.email).waitFor();
    await allow(page).click();
    await callback(page);
    expect([await grantsOf(person), (await grantsOf(other)).length]).toEqual([[], 1]);
  });

  test('uses a sign-in from a second tab, and asks if another person has signed in there', async () => {
    const first = await chromium.open(address());
    const second = await chromium.openTab(first, address());
    await signIn(second);
    await allow(second).waitFor();
    // The form of the first tab was made before, for the same browser.
    await signIn(first);
    await allow(first).waitFor();
    const other = await newPerson(service);
    await second.getByRole('button', { name: 'Not you?' }).click();
    await signIn(second, other.email);
    await allow(second).waitFor();
    await allow(first).click();
    await first.getByText(other.email).waitFor();
    expect([await grantsOf(person), await grantsOf(other)]).toEqual([[], []]);
  });

  test('asks again after going back from the app, and keeps the connection', async () => {
    const page = await openConsent();
    await allow(page).click();
    const code = (await callback(page)).get('code') ?? '';
    expect((await redeem(service, { app, code, verifier })).status).toBe(200);
    await page.goBack();
    await page.getByText('already connected').waitFor();
    await allow(page).click();
    const again = (await callback(page)).get('code') ?? '';
    expect(again).not.toBe(code);
    expect(await grantsOf(person)).toHaveLength(2);
  });

  test('asks no signed-in person for a password after going back to the sign-in page', async () => {
    const page = await openConsent();
    await page.goBack();
    await allow(page).waitFor();
    expect(await page.getByLabel('Password').count()).toBe(0);
  });

  test('repeated clicks make one grant and one redirect', async () => {
    const page = await openConsent();
    await allow(page).dblclick();
    await allow(page)
      .click({ clickCount: 3, timeout: 500 })
      .catch(() => undefined);
    const code = (await callback(page)).get('code') ?? '';
    expect(await grantsOf(person)).toHaveLength(1);
    expect((await redeem(service, { app, code, verifier })).status).toBe(200);
  });

  test('asks again for the same request after the page has expired', async () => {
    const page = await openConsent();
    service.clock.advanceMs(31 * 60_000);
    await allow(page).click();
    await page.waitForURL(/\/authorize\?/);
    await allow(page).click();
    expect((await callback(page)).get('state')).toBe(STATE);
    service.clock.advanceMs(-31 * 60_000);
  });

  test('explains that a pushed request was opened before, and does not redirect', async () => {
    const pushed = await call(`${service.url}/v1/integrations/oauth/par`, {
      form: {
        client_id: app.clientId,
        client_secret: app.secret ?? '',
        response_type: 'code',
        state: STATE,
        redirect_uri: partner.redirectUri,
        code_challenge: challengeOf(verifier),
        code_challenge_method: 'S256',
      },
    });
    const query = new URLSearchParams({ client_id: app.clientId, request_uri: textAt(pushed, 'request_uri') });
    const page = await chromium.open(`${service.url}/v1/integrations/oauth/authorize?${query}`, { locale: 'en-GB' });
    await page.reload();
    await page.getByRole('heading', { name: 'We cannot continue' }).waitFor();
    await inspectPage(page, 'refused');
    expect(partner.callbacks).toEqual([]);
  });

  test('shows a password on request, and sends it hidden', async () => {
    const page = await chromium.open(address());
    const password = page.getByLabel('Password');
    await page.getByLabel('Email address').fill(person.email);
    await password.fill(PASSWORD);
    await page.getByRole('button', { name: 'Show' }).click();
    expect(await password.getAttribute('type')).toBe('text');
    // A browser may send what it checks to a service.
    expect(await password.getAttribute('spellcheck')).toBe('false');
    await page.getByRole('button', { name: 'Hide' }).click();
    expect(await password.getAttribute('type')).toBe('password');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.evaluate(`document.forms[0].addEventListener('submit', (event) => event.preventDefault())`);
    await password.press('Enter');
    expect(await password.getAttribute('type')).toBe('password');
  });

  test('works by keyboard alone, in reading order, with visible focus', async () => {
    const page = await chromium.open(address());
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('email');
    await page.keyboard.type(person.email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    await allow(page).waitFor();
    const visited: string[] = [];
    while (visited.at(-1) !== 'Allow' && visited.length < 10) {
      await page.keyboard.press('Tab');
      visited.push(String(await page.evaluate('document.activeElement.textContent.trim()')));
      expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
    }
    // The budget between them: its amount, which has no text, and its period.
    expect(visited).toEqual(['Not you?', '', 'a weeka monthin total', 'Allow']);
    await page.keyboard.press('Enter');
    expect((await callback(page)).get('code')).toMatch(/^svc_ac_/);
  });

  test('is in Italian by default, and links to the same request in the other language', async () => {
    const page = await openConsent({ locale: 'it' });
    const lang = () => page.locator('html').getAttribute('lang');
    expect(await lang()).toBe('it');
    expect(await page.getByText('A carico del tuo abbonamento').isVisible()).toBe(true);
    await page.getByRole('link', { name: 'English' }).click();
    await page.getByRole('link', { name: 'Italiano' }).waitFor();
    expect(await lang()).toBe('en');
    await allow(page).click();
    expect((await callback(page)).get('state')).toBe(STATE);
  });

  test('works without scripts', async () => {
    const page = await chromium.open(address(), { javaScriptEnabled: false });
    await signIn(page);
    await allow(page).click();
    expect((await callback(page)).get('code')).toMatch(/^svc_ac_/);
  });

  test.each(['it', 'en'])(
    'every page in %s: axe-core finds nothing, and nothing scrolls sideways at 360 px',
    async (locale) => {
      const page = await chromium.open(address({ locale }));
      await inspectPage(page, `sign-in-${locale}`);
      await signIn(page, person.email, 'certainly not this one');
      await page.getByRole('alert').waitFor();
      await inspectPage(page, `wrong-password-${locale}`);
      await page.getByRole('link', { name: /Create one|Creane uno/ }).click();
      await page.getByLabel(/Email address|Indirizzo/).fill('a@b.example');
      await page.getByLabel(/^Password/).fill('password1234');
      await page.getByRole('button', { name: /^Crea/ }).click();
      await page.getByRole('alert').waitFor();
      await inspectPage(page, `sign-up-${locale}`);
      await page.goto(address({ locale }));
      await signIn(page);
      await allow(page).waitFor();
      await inspectPage(page, `consent-${locale}`);
      const now = new Date();
      const domain = 'quaderno.example';
      const row = { user_id: owner.userId, domain, token: 'x', status: 'verified', created_at: now, verified_at: now };
      await service.database('publisher_domains').insert(row);
      await page.reload();
      await inspectPage(page, `consent-verified-${locale}`);
      await service.database('publisher_domains').delete();
      await page.goto(address({ locale, redirect_uri: 'https://evil.example/' }));
      await inspectPage(page, `cannot-ask-${locale}`);
    },
  );

  test('shows names of the maximum length without breaking the layout', async () => {
    const long = await newApp(service, owner, {
      name: 'W'.repeat(80),
      redirect_uris: [`https://${'long-label-of-a-host.'.repeat(9)}example/callback`],
    });
    const page = await chromium.open(
      address({ client_id: long.clientId, redirect_uri: long.redirectUri, locale: 'it' }),
    );
    await signIn(page);
    await allow(page).waitFor();
    await inspectPage(page, 'long-names');
  });

  test('signs in and up at the console without script', async () => {
    const context = { javaScriptEnabled: false, locale: 'en-GB' };
    const page = await chromium.open(`${service.url}/sign-up?next=%2Fhealthz`, context);
    expect(await page.getByLabel('Business name').isVisible()).toBe(false);
    await page.getByLabel(/^Business:/).check();
    await page.getByLabel('Business name').fill('Acme');
    await page.getByLabel('Email address').fill(newEmail());
    await page.getByLabel(/^Password/).fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.waitForURL(`${service.url}/healthz`);
    await page.goto(`${service.url}/sign-in?next=%2Fhealthz&locale=en`);
    await page.getByLabel('Email address').fill(person.email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(`${service.url}/healthz`);
  });

  test.each(['sign-in', 'sign-up'])('axe finds nothing on /%s in either language, at 360 px', async (name) => {
    for (const locale of ['en', 'it']) {
      const page = await chromium.open(`${service.url}/${name}?locale=${locale}&reason=expired`);
      await inspectPage(page, `console-${name}-${locale}`);
    }
  });
});
