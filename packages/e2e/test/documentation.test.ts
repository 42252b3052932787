import { findChromium, waitFor } from '@svc/testing';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { startBrowser } from './support/browser.ts';
import { inspectPage } from './support/inspect-page.ts';
import { signUp } from './support/people.ts';

const executable = await findChromium();
const BUILD_TIMEOUT_MS = 120_000;
const ALL_PAGES_TIMEOUT_MS = 300_000;

beforeAll(async () => {
  // The stack builds the console after it is ready.
  const isThere = async () => (await fetch(`${inject('baseUrl')}/docs`)).ok;
  await waitFor(isThere, { timeoutMs: BUILD_TIMEOUT_MS, intervalMs: 200 });
});

describe.skipIf(executable === undefined)('the documentation in a browser', () => {
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];
  const outside: string[] = [];

  beforeAll(async () => {
    browser = await startBrowser(String(executable));
    page = await browser.newPage();
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().includes('404')) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('request', (sent) => {
      if (new URL(sent.url()).origin !== inject('baseUrl')) outside.push(sent.url());
    });
  });
  afterAll(() => browser.close());

  const open = (path: string) => page.goto(`${inject('baseUrl')}${path}`);

  test.each([
    ['/docs', 'index'],
    ['/docs/quick-start', 'quick-start'],
    ['/docs/errors', 'errors'],
    ['/docs/reference', 'reference'],
    ['/docs/reference/webhooks', 'reference-webhooks'],
    ['/docs/no-such-page', 'not-found'],
  ])('%s is accessible in light and dark, on desktop and at 360 px', async (path, name) => {
    const answer = await open(path);
    expect(answer?.status()).toBe(name === 'not-found' ? 404 : 200);
    expect(answer?.headers()['content-security-policy']).toContain("default-src 'none'");
    await inspectPage(page, `docs-${name}`);
  });

  test('every page of the navigation is accessible, each in one of the two modes', {
    timeout: ALL_PAGES_TIMEOUT_MS,
  }, async () => {
    await open('/docs');
    const links = page.locator('.menu a');
    const paths = await Promise.all((await links.all()).map((link) => link.getAttribute('href')));
    expect(paths.length).toBeGreaterThan(25);
    for (const [index, path] of paths.entries()) {
      const answer = await open(String(path));
      expect(answer?.status(), String(path)).toBe(200);
      await inspectPage(page, `docs${path?.replaceAll('/', '-')}`, [index % 2 === 0 ? 'wide' : 'narrow']);
    }
  });

  test('finds a section by its words and opens it', async () => {
    await page.setViewportSize({ width: 1280, height: 900 });
    await open('/docs');
    await page.keyboard.press('/');
    await page.keyboard.type('signature secret');
    await page.locator('.search-results a', { hasText: 'Receive webhooks' }).first().click();
    await page.waitForURL(/\/docs\/receive-webhooks/);
  });

  test('shows the address of this server in examples', async () => {
    await open('/docs/quick-start');
    const examples = page.locator('figure.code code', { hasText: 'SVC=' });
    await expect.poll(() => examples.first().textContent()).toContain(`SVC=${inject('baseUrl')}`);
  });

  test('copies a code block unchanged', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await open('/docs/quick-start');
    const block = page.locator('figure.code').nth(1);
    await block.getByRole('button', { name: 'Copy' }).click();
    await block.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain(
      'npm install "$SVC/docs/partner-sdk.tgz" express\n',
    );
  });

  test('sends requests to this server with the entered values', async () => {
    const person = await signUp('business');
    await open('/docs/reference/subscriptions');
    const form = page.locator('form.try[data-path="/v1/subscriptions/plans"]');
    await form.getByRole('button', { name: 'Send GET' }).click();
    await expect.poll(() => form.locator('.answer').textContent()).toContain('"starter"');

    await open('/docs/reference/apps');
    await page.getByLabel('Console session').fill(person.token);
    const register = page.locator('form.try[data-method="POST"][data-path="/v1/integrations/apps"]');
    await register.getByRole('button', { name: 'Send POST' }).click();
    await expect.poll(() => register.locator('.status').textContent()).toContain('201');
    // The status arrives with the head, the text a moment later.
    await expect.poll(() => register.locator('.answer').textContent()).toContain('client_secret');
    await register.locator('textarea').fill('{');
    await register.getByRole('button', { name: 'Send POST' }).click();
    await expect.poll(() => register.locator('.status').textContent()).toContain('not JSON');
  });

  test('loads no foreign resources and violates no policy', () => {
    expect(outside).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
