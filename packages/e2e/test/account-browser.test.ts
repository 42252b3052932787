import { readFile } from 'node:fs/promises';
import { findChromium } from '@svc/testing';
import { TOTP } from 'otpauth';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { call } from './support/api.ts';
import { startBrowser } from './support/browser.ts';
import { expectNothingToSteal, signUpInConsole, waitForConsole } from './support/console-page.ts';
import { type PageWatch, watchPages } from './support/watch-page.ts';

const executable = await findChromium();

/** Returns the link in the newest mail to an address whose subject matches. */
const findMailedLink = async (to: string, subject: RegExp): Promise<string> => {
  let link = '';
  const look = async (): Promise<string> => {
    const mails = await call('GET', `/sandbox/mail/messages?to=${encodeURIComponent(to)}`);
    const mail = Object.values(mails.body.data ?? {}).find((each) => subject.test(String(each.subject)));
    link = String(mail?.links?.[0] ?? '');
    return link;
  };
  await expect.poll(look, { timeout: 30_000 }).not.toBe('');
  return link;
};

describe.skipIf(executable === undefined)('the account of a person', () => {
  // Browsers allow passkeys at this host name, and at no IP address.
  const base = inject('baseUrl').replace('127.0.0.1', 'localhost');
  let browser: Browser;
  let page: Page;
  let watch: PageWatch;
  let person: { email: string; password: string };
  beforeAll(async () => {
    browser = await startBrowser(String(executable));
    watch = watchPages([base, inject('baseUrl')], /status of (401|503)/);
    const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1280, height: 900 } });
    page = watch.follow(await context.newPage());
    const authenticator = await context.newCDPSession(page);
    await authenticator.send('WebAuthn.enable');
    const options = {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
    } as const;
    await authenticator.send('WebAuthn.addVirtualAuthenticator', {
      options: { ...options, isUserVerified: true, automaticPresenceSimulation: true },
    });
    await waitForConsole(page, base);
  });
  afterAll(() => browser.close());

  test('sets up an authenticator app and a passkey, and signs in with the passkey alone', async () => {
    person = await signUpInConsole(page, 'personal', base);
    await page.goto(`${base}/account`);
    await page.getByRole('button', { name: 'Add an authenticator app' }).click();
    const secret = await page.getByRole('textbox', { name: 'Key' }).inputValue();
    await page.getByLabel('Code', { exact: true }).fill(new TOTP({ secret }).generate());
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'I have saved them' }).click();
    await page.getByText('10 left').waitFor();
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByRole('button', { name: 'Create the passkey' }).click();
    await page.getByRole('button', { name: 'Remove Chrome, Linux' }).waitFor();
    await expectNothingToSteal(page);
    await page.locator('.account-trigger').click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  test('downloads what every service holds about it', async () => {
    await page.goto(`${base}/account`);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download your data' }).click();
    const text = await readFile(await (await download).path(), 'utf8');
    expect(Object.keys(JSON.parse(text))).toEqual(
      expect.arrayContaining(['auth', 'billing', 'inference_gateway', 'webhook_dispatcher']),
    );
    expect(text).toContain(person.email);
  });

  test('is closed, and kept by the mailed link', async () => {
    await page.getByRole('button', { name: 'Delete the account' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete your account?' });
    await dialog.getByLabel('Password', { exact: true }).fill(person.password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Your account is closed' }).waitFor();
    await page.goto(await findMailedLink(person.email, /will be deleted/));
    await page.getByRole('button', { name: 'Keep my account' }).click();
    await page.getByText('Your account stays.').waitFor();
    expect(watch.outside()).toEqual([]);
    expect(watch.complaints()).toEqual([]);
  });
});
