import { createMemoryWebhookStore, createWebhookReceiver } from '@svc/partner-sdk/server';
import { findChromium, readStackFile, waitFor } from '@svc/testing';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { call, type LooseJson } from './support/api.ts';
import { startBrowser } from './support/browser.ts';
import { inspectPage } from './support/inspect-page.ts';
import { type Person, registerApp, signUp, subscribe } from './support/people.ts';
import { isSignedWith } from './support/receiver.ts';

const executable = await findChromium();
const WEBHOOK_TIMEOUT_MS = 20_000;
let sampleUrl: string;

/** Reads the inbox as a terminal does. */
const readInbox = async (query = ''): Promise<LooseJson> =>
  // Assertions check the shape.
  (await (await fetch(`${sampleUrl}/inbox.json?${query}`)).json()) as LooseJson;

beforeAll(async () => {
  sampleUrl = await waitFor(async () => (await readStackFile(inject('dataDir'))).processes['sample-partner']?.url, {
    timeoutMs: WEBHOOK_TIMEOUT_MS,
  });
  await waitFor(async () => typeof (await readInbox()).client_id === 'string', { timeoutMs: WEBHOOK_TIMEOUT_MS });
});

/** Calls the service from the page, without a stream. */
const CHAT_IN_PAGE = `(async () => {
  const { app } = document.querySelector('svc-connect');
  const answer = await app.client.chat({ messages: [{ role: 'user', content: 'Hello' }] });
  return { userId: app.svcUserId, content: answer.choices[0].message.content, requestId: answer.requestId };
})()`;

/** Returns one second of silence, 8 kHz, 8 bits. */
const silence = (): Buffer => {
  const samples = Buffer.alloc(8_000, 128);
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + samples.length, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(8_000, 24);
  header.writeUInt32LE(8_000, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.write('data', 36);
  header.writeUInt32LE(samples.length, 40);
  return Buffer.concat([header, samples]);
};

describe.skipIf(executable === undefined)('the sample partner app in a browser', () => {
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let user: Person;
  const complaints: string[] = [];

  beforeAll(async () => {
    browser = await startBrowser(String(executable));
    user = await signUp('personal');
    await subscribe(user);
    context = await browser.newContext({ locale: 'en-GB' });
    page = await context.newPage();
    page.on('console', (message) => {
      if (/Content Security Policy/i.test(message.text())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
  });
  afterAll(() => browser.close());

  const usedMicros = async (): Promise<number> =>
    Number(await page.locator('#weekly-micros').getAttribute('data-micros'));

  test('offers to connect and does nothing if the user declines', async () => {
    const answer = await page.goto(sampleUrl);
    const policy = answer?.headers()['content-security-policy'] ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    await inspectPage(page, 'sample-welcome');
    await page.getByRole('link', { name: 'Connect your account' }).click();
    await page.locator('input[type=email]').first().fill(user.email);
    await page.locator('input[type=password]').first().fill(user.password);
    await page.locator('form:has(input[type=password]) button[type=submit]').first().click();
    await page.getByText('Sample Partner').first().waitFor();
    await page.getByRole('button', { name: /deny|cancel|refuse/i }).click();
    await page.getByText('You chose not to connect').waitFor();
    await inspectPage(page, 'sample-declined');
  });

  test('speaks the browser language or the chosen one', async () => {
    const italian = await browser.newContext({ locale: 'it-IT' });
    const visit = await italian.newPage();
    await visit.goto(sampleUrl);
    await visit.getByRole('link', { name: 'Collega il tuo account' }).waitFor();
    expect(await visit.locator('html').getAttribute('lang')).toBe('it');
    await inspectPage(visit, 'sample-welcome-it');
    await visit.goto(`${sampleUrl}/browser`);
    await visit.getByRole('button', { name: 'Collega il tuo piano AI' }).waitFor();
    await visit.getByRole('button', { name: 'English' }).click();
    await visit.getByRole('link', { name: 'Connect your account' }).waitFor();
    await visit.reload();
    expect(await visit.locator('html').getAttribute('lang')).toBe('en');
    await italian.close();
  });

  test('connects and takes the user from the token response alone', async () => {
    await page.getByRole('link', { name: 'Connect again' }).click();
    await page.getByRole('button', { name: /allow|approve|connect/i }).click();
    await page.locator('#user').waitFor();
    expect(await page.locator('#user').textContent()).toBe(user.userId);
    expect(page.url()).toBe(`${sampleUrl}/`);
    const [cookie] = (await context.cookies(sampleUrl)).filter(({ name }) => name === 'sample_partner_session');
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax' });
    await inspectPage(page, 'sample-home');
    // Another tab that has started to connect finds that this one was faster.
    await page.goto(`${sampleUrl}/callback?code=late&state=${'x'.repeat(32)}`);
    expect(page.url()).toBe(`${sampleUrl}/`);
    expect(await page.locator('#user').textContent()).toBe(user.userId);
  });

  test('shows the streamed answer and its cost', async () => {
    const before = await usedMicros();
    await page.getByLabel('Your message').fill('Tell me slowly. [[chunks=20]] [[chunk_delay_ms=100]]');
    await page.getByRole('button', { name: 'Send' }).click();
    const answer = page.locator('#conversation .assistant').last();
    const words = answer.locator('span');
    const early = await waitFor(async () => (await words.textContent())?.length || undefined);
    expect(await answer.getAttribute('aria-busy')).toBe('true');
    await page.locator('#conversation .assistant[aria-busy=false]').last().waitFor();
    expect((await words.textContent())?.length).toBeGreaterThan(early);
    await waitFor(async () => (await usedMicros()) > before);
    await page.reload();
    expect(await page.locator('#conversation p').count()).toBe(2);
    await inspectPage(page, 'sample-chat');
  });

  test('explains a provider failure and continues', async () => {
    await page.getByLabel('Your message').fill('[[status=503]]');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('#conversation .problem').waitFor();
    await page.reload();
    await page.locator('#conversation .problem').waitFor();
    expect(await page.locator('#conversation .user').last().textContent()).toContain('[[status=503]]');
    await page.getByLabel('Your message').fill('And now?');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('#conversation .problem ~ .assistant[aria-busy=false]').waitFor();
  });

  test('a page without a server connects from its own origin, chats, streams and shows its use', async () => {
    await page.goto(`${sampleUrl}/browser`);
    const connect = page.getByRole('button', { name: 'Connect your AI plan' });
    await connect.waitFor();
    await inspectPage(page, 'sample-single-page');
    await connect.focus();
    await page.keyboard.press('Enter');
    await page.getByText('Sample Page').first().waitFor();
    await page.getByRole('button', { name: /deny|cancel|refuse/i }).click();
    await page.getByText('You chose not to connect').waitFor();
    await connect.click();
    await page.getByRole('button', { name: /allow|approve|connect/i }).click();
    await page.getByRole('button', { name: 'Disconnect' }).waitFor();
    expect(page.url()).toBe(`${sampleUrl}/browser`);
    await page.getByText('€0.50 of €0.50 left this week').waitFor();

    await page.getByLabel('Your message').fill('Tell me slowly. [[chunks=20]] [[chunk_delay_ms=50]]');
    await page.getByRole('button', { name: 'Send' }).click();
    const words = page.locator('#conversation .assistant span').last();
    const early = await waitFor(async () => (await words.textContent())?.length || undefined);
    await page.locator('#conversation .assistant[aria-busy=false]').waitFor();
    expect((await words.textContent())?.length).toBeGreaterThan(early);
    await page.getByText('€0.49 of €0.50 left this week').waitFor();
    const chat = await page.evaluate(CHAT_IN_PAGE);
    expect(chat).toEqual({ userId: user.userId, content: expect.stringMatching(/./), requestId: expect.any(String) });
    await inspectPage(page, 'sample-single-page-connected');

    const stored = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
    expect(String(stored)).not.toMatch(/eyJ|token|verifier/i);
    // Its tokens are gone after a reload, and come back without a page.
    await page.reload();
    await page.getByRole('button', { name: 'Disconnect' }).click();
    await connect.waitFor();
    await page.goto(sampleUrl);
  });

  test('transcribes an upload', async () => {
    await page.getByLabel('Audio file').setInputFiles({ name: 'a.wav', mimeType: 'audio/wav', buffer: silence() });
    await page.getByRole('button', { name: 'Transcribe' }).click();
    await expect.poll(() => page.locator('#transcription-text').textContent()).not.toBe('');
    await inspectPage(page, 'sample-transcription');
  });

  test('works without scripts', async () => {
    const plain = await browser.newContext({ javaScriptEnabled: false, storageState: await context.storageState() });
    const bare = await plain.newPage();
    await bare.goto(sampleUrl);
    const before = await bare.locator('#conversation .assistant').count();
    await bare.getByLabel('Your message').fill('Without scripts.');
    await bare.getByRole('button', { name: 'Send' }).click();
    await bare.locator('#conversation .assistant').nth(before).waitFor();
    await plain.close();
  });

  test('shows the verified connection event and later events live', async () => {
    await page.goto(`${sampleUrl}/inbox`);
    const verified = (event: string) =>
      page.locator(`#inbox tr[data-event="${event}"][data-verified=yes]`).filter({ hasText: /you/ }).first();
    await verified('integration.connected').waitFor({ timeout: WEBHOOK_TIMEOUT_MS });
    await verified('subscription.updated').waitFor({ timeout: WEBHOOK_TIMEOUT_MS });
    await inspectPage(page, 'sample-inbox');
    const { client_id: clientId } = await readInbox();
    const ended = await call('DELETE', `/v1/integrations/connections/${clientId}`, { token: user.token });
    expect(ended.status).toBe(204);
    await page.locator('#inbox tr[data-event="integration.revoked"]').waitFor({ timeout: WEBHOOK_TIMEOUT_MS });
    await page.goto(sampleUrl);
    await page.getByRole('link', { name: 'Connect your account' }).waitFor();
  });

  test('refuses a callback that belongs to no flow of this browser', async () => {
    const answer = await page.goto(`${sampleUrl}/callback?code=stolen&state=${'x'.repeat(32)}`);
    expect(answer?.status()).toBe(400);
    await page.getByRole('link', { name: 'Connect again' }).waitFor();
  });

  test('connects again and revokes the tokens on disconnect', async () => {
    await page.getByRole('link', { name: 'Connect again' }).click();
    await page.getByRole('button', { name: /allow|approve|connect/i }).click();
    await page.getByRole('button', { name: 'Disconnect' }).click();
    await page.getByRole('link', { name: 'Connect your account' }).waitFor();
    expect((await context.cookies(sampleUrl)).map(({ name }) => name)).not.toContain('sample_partner_session');
  });

  test('violates no policy', () => {
    expect(complaints).toEqual([]);
  });
});

describe('the sample partner app for terminals', () => {
  test('accepts deliveries of any app and exposes signature and body for verification', async () => {
    const business = await signUp('business');
    const app = await registerApp(business);
    const path = `/v1/integrations/apps/${app.clientId}/webhook`;
    const { any_webhook_url: url } = await readInbox();
    const configured = await call('PUT', path, { token: business.token, body: { url } });
    expect(configured.status, configured.text).toBe(200);
    expect((await call('POST', `${path}/test`, { token: business.token })).status).toBe(202);
    const { data } = await readInbox(`integration_id=${app.clientId}&wait_seconds=20`);
    expect(data).toHaveLength(1);
    expect(data[0]).toMatchObject({ verified: false, envelope: { event: 'integration.test', sequence: 1 } });
    const delivery = { headers: { 'x-svc-signature': String(data[0]?.signature) }, rawBody: String(data[0]?.raw_body) };
    expect(isSignedWith(delivery, String(configured.body.signing_secret))).toBe(true);
    expect(isSignedWith(delivery, 'whsec_other')).toBe(false);
  });

  test('lets a receiver of the SDK fetch what it missed, with the credentials of its app alone', async () => {
    const business = await signUp('business');
    const { clientId, clientSecret = '' } = await registerApp(business);
    const path = `/v1/integrations/apps/${clientId}/webhook`;
    const { any_webhook_url: url } = await readInbox();
    const configured = await call('PUT', path, { token: business.token, body: { url } });
    for (let count = 0; count < 3; count += 1) await call('POST', `${path}/test`, { token: business.token });
    const handled: number[] = [];
    const receiverWith = (secret: string) =>
      createWebhookReceiver({
        secret: String(configured.body.signing_secret),
        clientId,
        store: createMemoryWebhookStore(),
        events: { baseUrl: inject('baseUrl'), clientSecret: secret },
        handle: async (event) => void handled.push(event.sequence),
      });
    await expect(receiverWith('svc_cs_wrong').catchUp()).rejects.toMatchObject({ reason: 'unauthorized' });
    expect(await receiverWith(clientSecret).catchUp()).toEqual({ processed: 3, lastSequence: 3 });
    expect(handled).toEqual([1, 2, 3]);
  });
});
