import { findChromium } from '@svc/testing';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { startBrowser } from './support/browser.ts';
import { inspectPage } from './support/inspect-page.ts';
import { type LandingServer, startLandingServer } from './support/landing-server.ts';
import { type AuthorizeRequest, beginAuthorize, chat, discoverPartner, redeem } from './support/partner.ts';
import { type Person, type RegisteredApp, registerApp, signUp, subscribe } from './support/people.ts';
import { type PageWatch, watchPages } from './support/watch-page.ts';

const executable = await findChromium();

describe.skipIf(executable === undefined)('the authorize page in a browser', () => {
  let browser: Browser;
  let user: Person;
  let app: RegisteredApp;
  let partner: LandingServer;
  let redirectUri: string;
  let watch: PageWatch;

  beforeAll(async () => {
    browser = await startBrowser(String(executable));
    partner = await startLandingServer();
    redirectUri = `${partner.origin}/callback`;
    watch = watchPages([inject('baseUrl'), partner.origin]);
    const business = await signUp('business');
    user = await signUp('personal');
    await subscribe(user);
    app = await registerApp(business, 'confidential', redirectUri);
  });
  afterAll(async () => {
    partner.close();
    await browser.close();
  });

  const openPage = async (request: AuthorizeRequest): Promise<Page> => {
    const page = watch.follow(await browser.newPage());
    const answer = await page.goto(request.url.href);
    expect(answer?.status()).toBe(200);
    const policy = answer?.headers()['content-security-policy'] ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe-inline');
    return page;
  };

  const signInOn = async (page: Page, password: string): Promise<void> => {
    await page.locator('input[type=email]').first().fill(user.email);
    await page.locator('input[type=password]').first().fill(password);
    await page.locator('form:has(input[type=password]) button[type=submit]').first().click();
  };

  test('leads from a wrong password over sign-in and consent back to the partner, which can chat', async () => {
    const configuration = await discoverPartner(app);
    const request = await beginAuthorize(configuration, app, { locale: 'en' });
    const page = await openPage(request);
    expect(await page.locator('html').getAttribute('lang')).toBe('en');
    await signInOn(page, 'certainly not this one');
    await page.locator('#form-error').waitFor();
    await inspectPage(page, 'authorize-refused-en');
    await signInOn(page, user.password);
    await page.getByText('Notes').first().waitFor();
    await expect.poll(() => page.content()).toContain('Example Business');
    await expect.poll(() => page.content()).toContain('127.0.0.1');
    await inspectPage(page, 'authorize-consent-en');
    await page.getByRole('button', { name: /allow|approve|connect/i }).click();
    await page.waitForURL(/\/callback/);
    const callback = partner.visits.at(-1);
    expect(callback?.searchParams.get('state')).toBe(request.state);
    const url = new URL(redirectUri);
    url.search = callback?.search ?? '';
    const tokens = await redeem(configuration, url, request);
    expect(tokens['svc_user_id']).toBe(user.userId);
    expect((await chat(tokens.access_token, 'From a browser.')).status).toBe(200);

    const again = await beginAuthorize(configuration, app, { locale: 'en' });
    await page.goto(again.url.href);
    await page.getByRole('button', { name: /deny|cancel|refuse/i }).click();
    await page.waitForURL(/error=access_denied/);
    expect(partner.visits.at(-1)?.searchParams.get('iss')).toBe(configuration.serverMetadata().issuer);
  });

  test('speaks Italian by default and fits a phone', async () => {
    const request = await beginAuthorize(await discoverPartner(app), app);
    const page = await openPage(request);
    expect(await page.locator('html').getAttribute('lang')).toBe('it');
    await inspectPage(page, 'authorize-sign-in-it');
    await signInOn(page, user.password);
    await page.getByText('Notes').first().waitFor();
    await inspectPage(page, 'authorize-consent-it');
  });

  test('explains an invalid request and does not redirect', async () => {
    const request = await beginAuthorize(await discoverPartner(app), app, { locale: 'en' });
    request.url.searchParams.set('redirect_uri', 'https://elsewhere.example/callback');
    const page = await browser.newPage();
    expect((await page.goto(request.url.href))?.status()).toBe(400);
    await inspectPage(page, 'authorize-fault-en');
  });

  test('loads no foreign resources and violates no policy', () => {
    expect(watch.outside()).toEqual([]);
    expect(watch.complaints()).toEqual([]);
  });
});
