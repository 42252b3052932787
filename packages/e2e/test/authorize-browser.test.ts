import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { findChromium } from '@svc/testing';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startBrowser } from './support/browser.ts';
import { type AuthorizeRequest, beginAuthorize, chat, discoverPartner, redeem } from './support/partner.ts';
import { type Person, type RegisteredApp, registerApp, signUp, subscribe } from './support/people.ts';

const executable = await findChromium();

/** The partner's callback page: a web server of this machine that remembers where browsers came back. */
const startCallbackServer = async () => {
  const callbacks: URL[] = [];
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/callback')) callbacks.push(new URL(request.url, 'http://127.0.0.1'));
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end('<!doctype html><title>Partner</title>Back at the partner');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port
  return { callbacks, redirectUri: `http://127.0.0.1:${port}/callback`, close: () => server.close() };
};

describe.skipIf(executable === undefined)('the authorize page in a browser', () => {
  let browser: Browser;
  let user: Person;
  let app: RegisteredApp;
  let partner: Awaited<ReturnType<typeof startCallbackServer>>;
  const outside: string[] = [];
  const complaints: string[] = [];

  beforeAll(async () => {
    browser = await startBrowser(String(executable));
    partner = await startCallbackServer();
    const business = await signUp('business');
    user = await signUp('personal');
    await subscribe(user);
    app = await registerApp(business, 'confidential', partner.redirectUri);
  });
  afterAll(async () => {
    partner.close();
    await browser.close();
  });

  const openPage = async (request: AuthorizeRequest, width = 1024): Promise<Page> => {
    const page = await (await browser.newContext({ viewport: { width, height: 800 } })).newPage();
    page.on('request', (sent) => {
      const { origin } = new URL(sent.url());
      if (origin !== new URL(inject('baseUrl')).origin && origin !== new URL(partner.redirectUri).origin)
        outside.push(sent.url());
    });
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
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

  it('takes a user from sign-in over a wrong password and consent back to the partner, who can chat', async () => {
    const configuration = await discoverPartner(app);
    const request = await beginAuthorize(configuration, app, { locale: 'en' });
    const page = await openPage(request);
    expect(await page.locator('html').getAttribute('lang')).toBe('en');
    await signInOn(page, 'certainly not this one');
    await page.locator('[role=alert]').waitFor();
    await signInOn(page, user.password);
    await page.getByText('Notes').first().waitFor();
    expect(await page.content()).toContain('Example Business');
    expect(await page.content()).toContain('127.0.0.1');
    await page.getByRole('button', { name: /allow|approve|connect/i }).click();
    await page.waitForURL(/\/callback/);
    const callback = partner.callbacks.at(-1);
    expect(callback?.searchParams.get('state')).toBe(request.state);
    const url = new URL(partner.redirectUri);
    url.search = callback?.search ?? '';
    const tokens = await redeem(configuration, url, request);
    expect(tokens['svc_user_id']).toBe(user.userId);
    expect((await chat(tokens.access_token, 'From a browser.')).status).toBe(200);

    const again = await beginAuthorize(configuration, app, { locale: 'en' });
    await page.goto(again.url.href);
    await page.getByRole('button', { name: /deny|cancel|refuse/i }).click();
    await page.waitForURL(/error=access_denied/);
    expect(partner.callbacks.at(-1)?.searchParams.get('iss')).toBe(configuration.serverMetadata().issuer);
  });

  it('speaks Italian unless asked otherwise, and fits a phone', async () => {
    const request = await beginAuthorize(await discoverPartner(app), app);
    const page = await openPage(request, 360);
    expect(await page.locator('html').getAttribute('lang')).toBe('it');
    const isWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
    expect(await page.evaluate(isWide)).toBe(false);
    await signInOn(page, user.password);
    await page.getByText('Notes').first().waitFor();
    expect(await page.evaluate(isWide)).toBe(false);
  });

  it('loads nothing from elsewhere and breaks none of its own policies', () => {
    expect(outside).toEqual([]);
    expect(complaints.filter((text) => /Content Security Policy/i.test(text))).toEqual([]);
  });
});
