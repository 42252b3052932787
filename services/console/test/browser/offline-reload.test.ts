import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { hasChromium, useBrowser } from '../support/browser.ts';
import { useConsole } from '../support/console.ts';
import { furnish } from '../support/furnish.ts';
import { addPerson, openAs } from '../support/people.ts';

const WITH_WORKER = { serviceWorkers: 'allow' } as const;
const SNAPSHOT = `caches.match('/offline-snapshot', { cacheName: 'svc-snapshot' }).then((stored) => stored?.text() ?? '')`;

/** Waits until the console can open without a connection. */
const waitForWorker = async (page: Page): Promise<void> => {
  await page.evaluate('navigator.serviceWorker.ready.then(() => undefined)');
  await expect.poll(() => page.evaluate('navigator.serviceWorker.controller !== null')).toBe(true);
};

describe.skipIf(!hasChromium())('the console loaded without a connection', () => {
  let release: string;
  beforeAll(async () => {
    release = await mkdtemp(join(tmpdir(), 'svc-release-'));
    await cp(inject('assetsDirectory'), release, { recursive: true });
  });
  afterAll(() => rm(release, { recursive: true, force: true }));
  const console = useConsole({ assetsDirectory: () => release });
  const browser = useBrowser();

  test('shows the stored account with its age, opens other pages, and refreshes by itself', async () => {
    browser.expectComplaints('Failed to load resource');
    const person = addPerson(console, 'personal');
    furnish(console, person);
    const page = await openAs({ browser, console, person }, '/', WITH_WORKER);
    await page.getByRole('meter', { name: 'This week' }).waitFor();
    await waitForWorker(page);
    await expect.poll(() => page.evaluate(SNAPSHOT)).toContain('getSubscriptionUsage');
    await page.context().setOffline(true);
    await page.reload();
    await page.getByRole('meter', { name: 'This week' }).waitFor();
    await page.getByText(/We cannot reach the service. Last updated/).waitFor();
    await page.getByRole('link', { name: 'Connected apps', exact: true }).first().click();
    await page.getByRole('heading', { name: 'Connected apps', level: 1 }).waitFor();
    const documentation = await page.context().newPage();
    await expect(documentation.goto(`${console.url}/docs`)).rejects.toThrow('ERR_INTERNET_DISCONNECTED');
    await page.context().setOffline(false);
    await expect.poll(() => page.getByText('We cannot reach the service').count()).toBe(0);
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('meter', { name: 'This week' }).waitFor();
  });

  test('stores no secret, and deletes the account’s data with its session', async () => {
    browser.expectComplaints('Failed to load resource');
    const person = addPerson(console, 'business');
    furnish(console, person);
    const page = await openAs({ browser, console, person }, '/account', WITH_WORKER);
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('meter', { name: 'This week' }).waitFor();
    await expect.poll(() => page.evaluate(SNAPSHOT)).toContain('getSubscriptionUsage');
    const stored = String(await page.evaluate(SNAPSHOT));
    expect(stored).not.toContain('token-of-');
    expect(stored).not.toMatch(/listSessions|listFactors|getAppIcon|listWebhookEvents/);
    await page.locator('.account-trigger').click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL(/sign-in/);
    expect(await page.evaluate(SNAPSHOT)).toBe('');
  });

  test('is the newest release loaded so far', async () => {
    browser.expectComplaints('Failed to load resource');
    const person = addPerson(console, 'personal');
    const page = await openAs({ browser, console, person }, '/plans', WITH_WORKER);
    await waitForWorker(page);
    const edit = async (name: string, change: (text: string) => string): Promise<void> => {
      await writeFile(join(release, name), change(await readFile(join(release, name), 'utf8')));
      for (const ending of ['.br', '.gz']) await rm(join(release, `${name}${ending}`), { force: true });
    };
    await edit('service-worker.js', (text) =>
      text.replace(/digest"?:"[0-9a-f]{16}/, (found) => `${found.slice(0, -4)}next`),
    );
    await edit('index.html', (text) => text.replace('<html lang="it">', '<html lang="it" data-release="next">'));
    const releaseOf = () => page.evaluate(`document.documentElement.dataset['release']`);
    await page.reload();
    await page.locator('h1').waitFor();
    expect(await releaseOf()).toBe('next');
    const names = () => page.evaluate(`caches.keys().then((names) => names.join())`);
    await expect.poll(names).toMatch(/next/);
    await expect
      .poll(() =>
        page.evaluate(`caches.match('/index.html').then(() => navigator.serviceWorker.getRegistration())
        .then(({ installing, waiting }) => installing === null && waiting === null)`),
      )
      .toBe(true);
    await page.context().setOffline(true);
    await page.reload();
    await page
      .getByText(/We cannot reach the service/)
      .first()
      .waitFor();
    expect(await releaseOf()).toBe('next');
  });
});
