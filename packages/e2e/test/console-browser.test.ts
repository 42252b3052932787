import { findChromium, waitFor } from '@svc/testing';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { call } from './support/api.ts';
import { startBrowser } from './support/browser.ts';
import { expectNothingToSteal, goTo, signUpInConsole, waitForConsole } from './support/console-page.ts';
import { inspectPage } from './support/inspect-page.ts';
import { type LandingServer, startLandingServer } from './support/landing-server.ts';
import { beginAuthorize, chat, discoverPartner, redeem } from './support/partner.ts';
import { registerApp, signUp } from './support/people.ts';
import { isSignedWith, type Receiver, startReceiver } from './support/receiver.ts';
import { type PageWatch, watchPages } from './support/watch-page.ts';

const executable = await findChromium();
const WEBHOOK_TIMEOUT_MS = 30_000;
const RECORD_TIMEOUT_MS = 2_000;
const FAILURES = Array<number>(8).fill(500);
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

/** A browser shared by the steps of one journey, which run in order. */
const useJourney = () => {
  let browser: Browser;
  let page: Page;
  let watch: PageWatch;
  const home = [inject('baseUrl')];
  beforeAll(async () => {
    browser = await startBrowser(String(executable));
    // Expected complaints: the browser reports every status of 400 and above, such as a missing session, a page before
    // the build, a missing webhook configuration, and the refused webhook address.
    watch = watchPages(home, /status of (401|404|422|503)/);
    const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1280, height: 900 } });
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    page = watch.follow(await context.newPage());
    await waitForConsole(page);
  });
  afterAll(() => browser.close());
  return {
    get page() {
      return page;
    },
    get watch() {
      return watch;
    },
    home,
  };
};

/** Pays on the sandbox's page and returns. */
const pay = async (page: Page): Promise<void> => {
  await page.waitForURL(/\/sandbox\/payments\/sessions\//);
  await page.getByRole('button', { name: /^Pay / }).click();
};

describe.skipIf(executable === undefined)('a user of the console', () => {
  const journey = useJourney();
  let partner: LandingServer;
  let person: { email: string; password: string };
  let accessToken: string;
  beforeAll(async () => {
    partner = await startLandingServer();
    journey.home.push(partner.origin);
  });
  afterAll(() => partner.close());

  test('signs up, chooses a plan, pays and sees its usage', async () => {
    const { page } = journey;
    person = await signUpInConsole(page, 'personal');
    await expectNothingToSteal(page);
    await page.getByRole('link', { name: 'See the plans' }).click();
    await page.getByRole('button', { name: 'Choose Standard' }).click();
    await page.getByRole('button', { name: 'Cancel and go back' }).click();
    await page.getByText('You were not charged').waitFor();
    await page.getByRole('button', { name: 'Choose Standard' }).click();
    await pay(page);
    await page.getByText('You are now on Standard').waitFor();
    await page.getByRole('link', { name: 'Go to the overview' }).click();
    for (const name of ['This week', 'This month']) {
      expect(await page.getByRole('meter', { name }).getAttribute('aria-valuetext')).toMatch(/^0%, €0.00 of €/);
    }
    await expect.poll(() => page.getByText(/^Resets in /).count()).toBe(2);
  });

  test('connects an app on the authorize page and sees its usage by day', async () => {
    const { page } = journey;
    const app = await registerApp(await signUp('business'), 'confidential', `${partner.origin}/callback`);
    const configuration = await discoverPartner(app);
    const request = await beginAuthorize(configuration, app, { locale: 'en' });
    await page.goto(request.url.href);
    // The console's session is valid here too.
    await page.getByText(person.email).waitFor();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.waitForURL(`${partner.origin}/callback?**`);
    const tokens = await redeem(configuration, new URL(page.url()), request);
    accessToken = tokens.access_token;
    // Long enough for its cost to show in a bar.
    expect((await chat(accessToken, 'At length. [[chunks=2000]]')).status).toBe(200);
    await page.goto(inject('baseUrl'));
    await page.getByRole('row', { name: /^Notes 1 / }).waitFor();
    await page.getByRole('application', { name: 'Cost of your plan by day' }).waitFor();
    await page.getByRole('button', { name: 'Show as a table' }).click();
    const table = page.getByRole('table', { name: 'Cost of your plan by day' });
    await table
      .getByRole('row')
      .filter({ hasText: /€0\.0*[1-9]/ })
      .first()
      .waitFor();
    await inspectPage(page, 'console-overview');
  });

  test('sees the last use of the app and disconnects it after one confirmation', async () => {
    const { page } = journey;
    await page.setViewportSize({ width: 1280, height: 900 });
    await goTo(page, 'Connected apps');
    await page.getByText('use your subscription and see your limits and usage').waitFor();
    await page
      .getByText(/second|now/)
      .first()
      .waitFor();
    await inspectPage(page, 'console-connections');
    await page.getByRole('button', { name: 'Disconnect Notes' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Disconnect Notes?' });
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect((await chat(accessToken, 'Still here.')).status).toBe(200);
    await page.getByRole('button', { name: 'Disconnect Notes' }).click();
    await dialog.getByRole('button', { name: 'Disconnect' }).click();
    await page.getByText('No connected apps').waitFor();
    await page.getByRole('button', { name: 'History of Notes' }).waitFor();
    await waitFor(async () => (await chat(accessToken, 'No more.')).status === 401);
  });

  test('opens the billing portal and comes back', async () => {
    const { page } = journey;
    await page.setViewportSize({ width: 1280, height: 900 });
    await goTo(page, 'Plan');
    await page.getByRole('button', { name: 'Open the billing portal' }).click();
    await page.getByText('Cancel the subscription').click();
    await page.getByRole('button', { name: 'Cancel at the end of the period' }).click();
    await page.getByRole('button', { name: /Back to svc/ }).click();
    await page.getByText(/Ends on .*, and will not renew/).waitFor();
  });

  test('creates a key that is shown once, tops up the wallet, and sees the requests of the key', async () => {
    const { page } = journey;
    await goTo(page, 'API keys');
    await page.getByRole('button', { name: 'Create a key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Nightly report');
    await dialog.getByRole('button', { name: 'Create a key' }).click();
    const key = await page.getByRole('textbox', { name: 'API key' }).inputValue();
    expect(key).toMatch(/^svc_sk_/);
    await page.getByRole('button', { name: 'Copy: API key' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(key);
    await page.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByRole('rowheader', { name: 'Nightly report' }).waitFor();
    await expect.poll(() => page.content()).not.toContain(key);
    await expectNothingToSteal(page);

    const ask = () =>
      call('POST', '/v1/chat/completions', {
        token: key,
        body: { model: 'svc-chat', messages: [{ role: 'user', content: 'At length. [[chunks=2000]]' }] },
      });
    expect((await ask()).status).toBe(402);
    await goTo(page, 'Wallet');
    await page.getByText('Your wallet is empty').waitFor();
    await page.getByLabel('Amount', { exact: true }).fill('12,50');
    await page.getByRole('button', { name: 'Go to checkout' }).click();
    await pay(page);
    await page.getByText('Your wallet now holds €12.50.').waitFor();
    const answer = await ask();
    expect(answer.status, answer.text).toBe(200);

    await goTo(page, 'Usage');
    const details = page.getByRole('button', { name: `Details of ${answer.headers.get('x-request-id')}` });
    // Usage is recorded after the response, and the page is not notified.
    const isListed = async (): Promise<boolean> => {
      await page.reload();
      return details.waitFor({ timeout: RECORD_TIMEOUT_MS }).then(
        () => true,
        () => false,
      );
    };
    await expect.poll(isListed, { timeout: 5 * RECORD_TIMEOUT_MS }).toBe(true);
    await details.click();
    await page.getByText('sandbox-chat-1').waitFor();
    await page.getByRole('application', { name: 'Cost by day' }).waitFor();
    expect(await page.content()).not.toContain('At length.');
    await inspectPage(page, 'console-usage');
    await page.setViewportSize({ width: 1280, height: 900 });
    await goTo(page, 'API keys');
    await page.getByRole('button', { name: 'Manage Nightly report' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No keys yet').waitFor();
    await waitFor(async () => (await ask()).status === 401);
  });

  test('signs out and its session ends', async () => {
    const { page } = journey;
    await page.locator('.account-trigger').click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByText('You have signed out.').waitFor();
    await page.goto(`${inject('baseUrl')}/wallet`);
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
    expect(journey.watch.outside()).toEqual([]);
    expect(journey.watch.complaints()).toEqual([]);
  });
});

describe.skipIf(executable === undefined)('a business in the console', () => {
  const journey = useJourney();
  let receiver: Receiver;
  let clientId: string;
  let clientSecret: string;
  beforeAll(async () => {
    receiver = await startReceiver();
  });
  afterAll(() => receiver.close());

  /** Returns the token endpoint's verdict on an app's secret: an unknown code or an unknown client. */
  const judgeSecret = async (secret: string): Promise<string> => {
    const form = { grant_type: 'authorization_code', code: 'none', redirect_uri: 'https://notes.example/callback' };
    const client = { client_id: clientId, client_secret: secret, code_verifier: 'v'.repeat(43) };
    return String((await call('POST', '/v1/integrations/oauth/token', { form: { ...form, ...client } })).body.error);
  };
  const openTab = (name: string) =>
    journey.page.getByRole('navigation', { name: 'Sections of this app' }).getByRole('link', { name }).click();

  test('registers an app, and keeps the secret that is shown once', async () => {
    const { page } = journey;
    await signUpInConsole(page, 'business');
    await page.getByRole('link', { name: 'Register an app' }).first().click();
    await page.getByLabel('Name', { exact: true }).fill('Team notes');
    await page.getByLabel('Redirect URI 1', { exact: true }).fill('https://notes.example/callback');
    await page.getByRole('button', { name: 'Register an app' }).click();
    await page.getByRole('dialog', { name: 'Team notes is registered' }).waitFor();
    clientSecret = await page.getByRole('textbox', { name: 'Client secret' }).inputValue();
    await page.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByRole('heading', { name: 'Team notes', level: 1, exact: true }).waitFor();
    clientId = /app_[0-9a-z]{26}/.exec(page.url())?.[0] ?? '';
    await expect.poll(() => page.content()).not.toContain(clientSecret);
    expect(await judgeSecret(clientSecret)).toBe('invalid_grant');
    await expectNothingToSteal(page);
  });

  test('sets up the webhook and queues test events', async () => {
    const { page } = journey;
    // The first event fails all attempts, is retried and arrives; the second fails too and is skipped.
    receiver.answers.push(...FAILURES, 204, ...FAILURES);
    await openTab('Webhook');
    await page.getByRole('button', { name: 'Set up the webhook' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Address').fill('https://127.0.0.1/webhooks');
    await dialog.getByRole('button', { name: 'Set up the webhook' }).click();
    await expect.poll(() => dialog.getByLabel('Address').getAttribute('aria-invalid')).toBe('true');
    await dialog.getByLabel('Address').fill(receiver.url);
    await dialog.getByRole('button', { name: 'Set up the webhook' }).click();
    const secret = await page.getByRole('textbox', { name: 'Signing secret' }).inputValue();
    await page.getByRole('button', { name: 'I have saved it' }).click();
    await expect.poll(() => page.content()).not.toContain(secret);
    for (const number of [1, 2, 3]) {
      await page.getByRole('button', { name: 'Send a test event' }).click();
      await page.getByRole('row', { name: new RegExp(`^${number} `) }).waitFor();
    }
    const first = await receiver.waitForEvent('integration.test');
    expect(isSignedWith(first, secret)).toBe(true);
  });

  test('gives the app an icon, and rotates its secret', async () => {
    const { page } = journey;
    await openTab('Settings');
    await page.locator('input[type=file]').setInputFiles({ name: 'i.png', mimeType: 'image/png', buffer: PNG });
    await page.getByText('Icon saved').first().waitFor();
    await page.locator('main img[src^="data:image/png"]').first().waitFor();
    await page.getByRole('button', { name: 'Replace the secret' }).click();
    await page.getByLabel('The old secret keeps working').selectOption({ label: 'Not at all' });
    await page.getByRole('alertdialog').getByRole('button', { name: 'Replace it' }).click();
    const rotated = await page.getByRole('textbox', { name: 'Client secret' }).inputValue();
    await page.getByRole('button', { name: 'I have saved it' }).click();
    expect(rotated).not.toBe(clientSecret);
    expect([await judgeSecret(clientSecret), await judgeSecret(rotated)]).toEqual(['invalid_client', 'invalid_grant']);
    await inspectPage(page, 'console-app');
  });

  test('recovers a failed event by retrying it, and the next by skipping it', async () => {
    const { page } = journey;
    await page.setViewportSize({ width: 1280, height: 900 });
    await openTab('Webhook');
    const blocked = page.getByText('Deliveries are blocked');
    await blocked.waitFor({ timeout: WEBHOOK_TIMEOUT_MS });
    await page
      .getByText(/answered 500 in/)
      .first()
      .waitFor();
    // A notification that fades has too little contrast.
    await page.locator('.toast').first().waitFor({ state: 'detached' });
    await inspectPage(page, 'console-webhook-blocked');
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByRole('button', { name: 'Retry event 1' }).click();
    await page.getByRole('row', { name: /^1 .*delivered/ }).waitFor({ timeout: WEBHOOK_TIMEOUT_MS });
    await page.getByRole('button', { name: 'Skip event 2' }).click({ timeout: WEBHOOK_TIMEOUT_MS });
    await page.getByRole('alertdialog').getByRole('button', { name: 'Skip' }).click();
    await page.getByRole('row', { name: /^2 .*skipped/ }).waitFor();
    await page.getByRole('row', { name: /^3 .*delivered/ }).waitFor({ timeout: WEBHOOK_TIMEOUT_MS });
    await blocked.waitFor({ state: 'detached' });
    expect(receiver.deliveries.map(({ event }) => event.sequence)).toEqual([
      ...Array<number>(9).fill(1),
      ...Array<number>(8).fill(2),
      3,
    ]);
    await inspectPage(page, 'console-webhook');
  });

  test('deactivates, activates, and deletes the app with its name typed', async () => {
    const { page } = journey;
    await page.setViewportSize({ width: 1280, height: 900 });
    await openTab('Settings');
    const dialog = page.getByRole('alertdialog');
    await page.getByRole('button', { name: 'Deactivate' }).click();
    await dialog.getByRole('button', { name: 'Deactivate' }).click();
    await page.getByRole('button', { name: 'Activate', exact: true }).click();
    await page.getByRole('button', { name: 'Deactivate' }).waitFor();
    await page.getByRole('button', { name: 'Delete the app' }).click();
    const confirm = dialog.getByRole('button', { name: 'Delete the app' });
    await page.getByLabel(/To confirm, type the name/).fill('team notes');
    expect(await confirm.isDisabled()).toBe(true);
    await page.getByLabel(/To confirm, type the name/).fill('Team notes');
    await confirm.click();
    await page.getByText('No apps yet').waitFor();
    expect(journey.watch.outside()).toEqual([]);
    expect(journey.watch.complaints()).toEqual([]);
  });
});
