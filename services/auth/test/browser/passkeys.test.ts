import { freePort } from '@svc/testing';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, startAuthService } from '../support/auth-service.ts';
import {
  type CallbackPage,
  type Chromium,
  chromiumPath,
  inspectPage,
  startCallbackPage,
  startChromium,
} from '../support/chromium.ts';
import { call } from '../support/http.ts';
import { challengeOf, newApp, newPerson, newVerifier, PASSWORD, type Person, STATE } from '../support/partner.ts';

/** Passkeys on the authorize pages, with the virtual authenticator of a real browser. */

describe.skipIf(chromiumPath === undefined)('passkeys on the authorize pages', { timeout: 120_000 }, () => {
  let service: AuthService;
  let chromium: Chromium;
  let partner: CallbackPage;
  let path: string;
  let base: string;

  beforeAll(async () => {
    const port = await freePort();
    // Browsers allow passkeys at localhost, and at no IP address.
    base = `http://localhost:${port}`;
    service = await startAuthService({ PUBLIC_BASE_URL: base }, undefined, port);
    partner = await startCallbackPage();
    chromium = await startChromium([base, service.url, partner.origin]);
    const app = await newApp(service, await newPerson(service, 'business'), { redirect_uris: [partner.redirectUri] });
    const query = new URLSearchParams({
      client_id: app.clientId,
      redirect_uri: partner.redirectUri,
      code_challenge: challengeOf(newVerifier()),
      state: STATE,
      locale: 'en',
    });
    path = `/v1/integrations/oauth/authorize?${query}`;
  });
  afterEach(() => expect(chromium.complaints.splice(0)).toEqual([]));
  afterAll(async () => {
    await chromium.close();
    partner.close();
    await service.stop();
  });

  /** Gives the browser of a page an authenticator with a passkey of this person. */
  const addPasskey = async (page: Page, { token }: Person): Promise<void> => {
    const session = await page.context().newCDPSession(page);
    await session.send('WebAuthn.enable');
    const features = { hasResidentKey: true, hasUserVerification: true, isUserVerified: true };
    await session.send('WebAuthn.addVirtualAuthenticator', {
      options: { protocol: 'ctap2', transport: 'internal', automaticPresenceSimulation: true, ...features },
    });
    const factors = `${service.url}/v1/console/account/factors/passkeys`;
    const options = await call(`${factors}/options`, { method: 'POST', token });
    const created: unknown = await page.evaluate(
      `navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(${options.text}) })
        .then((credential) => credential.toJSON())`,
    );
    const added = await call(factors, { token, json: created });
    expect([added.status, added.text]).toEqual([201, expect.any(String)]);
  };
  const consentOf = (page: Page, person: Person) => page.getByText(person.email);

  test('sign in without a password, also after a refused attempt', async () => {
    const person = await newPerson(service);
    const page = await chromium.open(`${base}${path}`);
    await addPasskey(page, person);
    await inspectPage(page, 'passkey-sign-in');
    await service.database('passkeys').where({ user_id: person.userId }).update({ counter: 1_000 });
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByRole('alert').getByText('This passkey does not work here').waitFor();
    await service.database('passkeys').where({ user_id: person.userId }).update({ counter: 0 });
    await page.getByRole('button', { name: 'Sign in with a passkey' }).press('Enter');
    await consentOf(page, person).waitFor();
  });

  test('complete a sign-in after the password', async () => {
    const person = await newPerson(service);
    const page = await chromium.open(`${base}${path}`);
    await addPasskey(page, person);
    await page.getByLabel('Email address').fill(person.email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Two-step verification' }).waitFor();
    await inspectPage(page, 'second-factor');
    await page.getByLabel('Recovery code').fill('not one of mine');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('The code is wrong').waitFor();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await consentOf(page, person).waitFor();
  });

  test('are not offered at an IP address, where browsers do not support them, nor without script', async () => {
    const page = await chromium.open(`${service.url}${path}`);
    await page.getByLabel('Password').waitFor();
    expect(await page.getByRole('button', { name: 'Sign in with a passkey' }).count()).toBe(0);
    const plain = await chromium.open(`${base}${path}`, { javaScriptEnabled: false });
    await plain.getByLabel('Password').waitFor();
    expect(await plain.getByRole('button', { name: 'Sign in with a passkey' }).count()).toBe(0);
  });

  test('explain what to do when the person cancels', async () => {
    const page = await chromium.open(`${base}${path}`);
    const session = await page.context().newCDPSession(page);
    await session.send('WebAuthn.enable');
    await page.evaluate(`navigator.credentials.get = () => Promise.reject(new DOMException('', 'NotAllowedError'))`);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByRole('alert').getByText('You did not use the passkey').waitFor();
  });
});
