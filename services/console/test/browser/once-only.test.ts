import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, test } from 'vitest';
import { hasChromium, useBrowser } from '../support/browser.ts';
import { atLocalhost, useConsole } from '../support/console.ts';
import { furnish } from '../support/furnish.ts';
import { addPerson, openAs } from '../support/people.ts';
import { newTotpCode } from '../support/totp-code.ts';

/** Long enough for every attempt to close a dialog that works. */
const ANSWER_MS = 2_500;

interface Case {
  readonly title: string;
  /** Operations whose answers are slow. */
  readonly operation: string;
  readonly path: (clientId: string) => string;
  /** Opens the dialog, fills it in and submits it. */
  readonly submit: (page: Page) => Promise<void>;
  /** Accessible role and name of what is shown once. */
  readonly shown: { readonly role: 'textbox' | 'list'; readonly name: string };
}

const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();
const confirm = (page: Page, name: string): Promise<void> =>
  page.getByRole('alertdialog').getByRole('button', { name }).click();

const CASES: readonly Case[] = [
  {
    title: 'a new API key',
    operation: 'createKey',
    path: () => '/keys',
    submit: async (page) => {
      await page.getByRole('button', { name: 'Create a key' }).first().click();
      await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('Report');
      await page.keyboard.press('Enter');
    },
    shown: { role: 'textbox', name: 'API key' },
  },
  {
    title: 'a new management key',
    operation: 'createManagementKey',
    path: () => '/keys',
    submit: async (page) => {
      await press(page, 'Create a management key');
      await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('Provisioning');
      await page.getByRole('dialog').getByLabel('Wallet', { exact: true }).selectOption('read');
      await page.getByRole('dialog').getByLabel('Name', { exact: true }).press('Enter');
    },
    shown: { role: 'textbox', name: 'Management key' },
  },
  {
    title: 'a replaced API key',
    operation: 'rotateKey',
    path: () => '/keys',
    submit: async (page) => {
      await press(page, 'Manage Nightly report');
      await page.getByRole('menuitem', { name: 'Replace the secret' }).click();
      await confirm(page, 'Replace it');
    },
    shown: { role: 'textbox', name: 'API key' },
  },
  {
    title: 'the signing secret of a webhook',
    operation: 'configureWebhook',
    path: (clientId) => `/apps/${clientId}/webhook`,
    submit: async (page) => {
      await press(page, 'Change the destination');
      await page.getByRole('dialog').getByLabel('Address', { exact: false }).fill('https://notes.example/new');
      await page.keyboard.press('Enter');
    },
    shown: { role: 'textbox', name: 'Signing secret' },
  },
  {
    title: 'a replaced signing secret',
    operation: 'rotateWebhookSecret',
    path: (clientId) => `/apps/${clientId}/webhook`,
    submit: async (page) => {
      await press(page, 'Replace the signing secret');
      await confirm(page, 'Replace it');
    },
    shown: { role: 'textbox', name: 'Signing secret' },
  },
  {
    title: 'a replaced client secret',
    operation: 'rotateAppSecret',
    path: (clientId) => `/apps/${clientId}`,
    submit: async (page) => {
      await press(page, 'Replace the secret');
      await confirm(page, 'Replace it');
    },
    shown: { role: 'textbox', name: 'Client secret' },
  },
  {
    title: 'the recovery codes of an authenticator app',
    operation: 'confirmTotp',
    path: () => '/account',
    submit: async (page) => {
      await press(page, 'Add an authenticator app');
      const key = page.getByRole('textbox', { name: 'Key' });
      await page.getByLabel('Code', { exact: true }).fill(newTotpCode(await key.inputValue()));
      await page.keyboard.press('Enter');
    },
    shown: { role: 'list', name: 'Recovery codes' },
  },
  {
    title: 'new recovery codes',
    operation: 'renewRecoveryCodes',
    path: () => '/account',
    submit: async (page) => {
      await press(page, 'Create new codes');
      await confirm(page, 'Create new codes');
    },
    shown: { role: 'list', name: 'Recovery codes' },
  },
];

describe.skipIf(!hasChromium())('what is shown once', () => {
  const console = useConsole();
  const browser = useBrowser();
  beforeEach(() => browser.expectComplaints('Failed to load resource', 'beforeunload'));

  test.each(CASES)('is shown although everything was tried to close its dialog meanwhile: $title', async (item) => {
    const person = addPerson(console, 'business');
    const app = furnish(console, person);
    const page = await openAs({ browser, console, person }, '/');
    await page.evaluate(`history.pushState(null, '', ${JSON.stringify(item.path(app.client_id))})`);
    await page.getByRole('heading', { level: 1 }).filter({ hasNotText: 'Overview' }).waitFor();
    console.faults.delayMs.set(item.operation, ANSWER_MS);
    await item.submit(page);
    const dialog = page.locator('.dialog');
    await dialog.locator('[aria-busy=true]').waitFor();
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 5);
    expect(await dialog.getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true);
    for (const close of await dialog.getByRole('button', { name: 'Close' }).all()) {
      expect(await close.isDisabled()).toBe(true);
    }
    await page.goBack();
    expect(await dialog.locator('[aria-busy=true]').isVisible()).toBe(true);
    const shown = page.getByRole(item.shown.role, { name: item.shown.name });
    await shown.waitFor();
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 5);
    expect(await shown.isVisible()).toBe(true);
    await page.getByRole('button', { name: /^I have saved/ }).click();
    await shown.waitFor({ state: 'detached' });
    // Where the person went meanwhile.
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  });

  test('is shown after its page was left: the secret of a registered app', async () => {
    const person = addPerson(console, 'business');
    const page = await openAs({ browser, console, person }, '/apps/new');
    await page.getByLabel('Name', { exact: true }).fill('Notes');
    await page.getByLabel('Redirect URI 1', { exact: true }).fill('https://notes.example/callback');
    console.faults.delayMs.set('registerApp', ANSWER_MS);
    await press(page, 'Register an app');
    await page.getByRole('link', { name: 'Wallet', exact: true }).click();
    await page.getByRole('heading', { name: 'Wallet', level: 1 }).waitFor();
    await page.getByRole('textbox', { name: 'Client secret' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/wallet');
  });

  test('is shown for the first passkey, and asks before the tab is closed', async () => {
    const home = atLocalhost(console);
    const person = addPerson(home, 'personal');
    const page = await openAs({ browser, console: home, person }, '/account');
    const devices = await page.context().newCDPSession(page);
    await devices.send('WebAuthn.enable');
    await devices.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
      },
    });
    console.faults.delayMs.set('addPasskey', ANSWER_MS);
    await press(page, 'Add a passkey');
    await page.getByRole('dialog').getByRole('button', { name: 'Create the passkey' }).click();
    await page.locator('.dialog [aria-busy=true]').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('list', { name: 'Recovery codes' }).waitFor();
    const asked = page.waitForEvent('dialog');
    const closing = page.close({ runBeforeUnload: true });
    const question = await asked;
    expect(question.type()).toBe('beforeunload');
    await question.dismiss();
    await closing;
    expect(await page.getByRole('list', { name: 'Recovery codes' }).isVisible()).toBe(true);
  });

  test('keeps a question open while its answer is checked, and lets it be cancelled before', async () => {
    const person = addPerson(console, 'personal');
    const page = await openAs({ browser, console, person }, '/keys');
    for (const token of console.state.sessions.keys()) console.state.staleSessions.add(token);
    await page.getByRole('button', { name: 'Create a key' }).first().click();
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('Report');
    await page.keyboard.press('Enter');
    const question = page.getByRole('dialog', { name: 'Confirm that it is you' });
    await question.waitFor();
    await page.keyboard.press('Escape');
    await question.waitFor({ state: 'detached' });
    await page.getByText('Nothing has changed, because you did not confirm').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.dialog').waitFor({ state: 'detached' });
  });
});
