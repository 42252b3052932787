import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import { newBrowser } from './support/browser.ts';
import { type Answer, call, textAt } from './support/http.ts';
import { challengeOf, newApp, newPerson, newVerifier, PASSWORD, type Person, STATE } from './support/partner.ts';

let service: AuthService;
let person: Person;

beforeAll(async () => {
  service = await startAuthService();
});
afterAll(() => service.stop());
beforeEach(async () => {
  person = await newPerson(service);
});

const signIn = (
  options: { device?: string; password?: string; cookie?: string; email?: string } = {},
): Promise<Answer> =>
  call(`${service.url}/v1/console/sessions`, {
    json: { email: options.email ?? person.email, password: options.password ?? PASSWORD },
    headers: {
      ...(options.device === undefined ? {} : { 'x-svc-device': options.device }),
      ...(options.cookie === undefined ? {} : { cookie: options.cookie }),
    },
  });
const deviceOf = async (): Promise<string> => textAt(await signIn(), 'device_token');
/** Spends the budget of an address as strangers can. */
const lockOut = async (): Promise<void> => {
  for (let guess = 0; guess < 10; guess += 1) await signIn({ password: 'a wrong guess' });
  expect((await signIn()).status).toBe(429);
};

describe('a known device', () => {
  test('signs in while strangers have locked the address', async () => {
    const device = await deviceOf();
    await lockOut();
    const answer = await signIn({ device });
    expect(answer.status).toBe(201);
    expect(textAt(answer, 'device_token')).toBe(device);
  });

  test('signs in by the cookie of a browser', async () => {
    const cookie = (await signIn()).headers.getSetCookie().find((header) => header.startsWith('svc_device='));
    expect(cookie).toMatch(/; Path=\/; Max-Age=34560000; HttpOnly; SameSite=Lax$/);
    await lockOut();
    expect((await signIn({ cookie: cookie?.split(';')[0] ?? '' })).status).toBe(201);
  });

  test('signs in on the authorize page while strangers have locked the address', async () => {
    const app = await newApp(service, await newPerson(service, 'business'));
    const query = new URLSearchParams({
      client_id: app.clientId,
      redirect_uri: app.redirectUri,
      code_challenge: challengeOf(newVerifier()),
      state: STATE,
      locale: 'en',
    });
    const path = `/v1/integrations/oauth/authorize?${query}`;
    const browser = newBrowser(service);
    const consent = await browser.submit(await browser.open(path), 'sign-in', {
      email: person.email,
      password: PASSWORD,
    });
    await browser.submit(consent, 'sign-out');
    await lockOut();
    const again = await browser.submit(await browser.open(path), 'sign-in', {
      email: person.email,
      password: PASSWORD,
    });
    expect(again.text).toContain(person.email);
    expect(browser.cookies.has('svc_session')).toBe(true);
  });

  test('has a separate budget of ten failures, also in parallel', async () => {
    const device = await deviceOf();
    const answers = await Promise.all(Array.from({ length: 30 }, () => signIn({ device, password: 'a wrong guess' })));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
    const closed = await signIn({ device });
    expect([closed.status, Number(closed.headers.get('retry-after')) > 0]).toEqual([429, true]);
    expect((await signIn()).status).toBe(201);
  });

  test('counts as a stranger for every other account', async () => {
    const device = await deviceOf();
    person = await newPerson(service);
    await lockOut();
    expect((await signIn({ device })).status).toBe(429);
  });

  test('counts as a stranger after a sign-out everywhere, unless it made the change', async () => {
    const device = await deviceOf();
    const other = await deviceOf();
    const changed = await call(`${service.url}/v1/console/account/password`, {
      token: person.token,
      json: { current_password: PASSWORD, new_password: 'another long enough passphrase' },
      headers: { 'x-svc-device': device },
    });
    await lockOut().catch(() => undefined);
    const password = 'another long enough passphrase';
    expect((await signIn({ device: other, password })).status).toBe(429);
    expect((await signIn({ device: textAt(changed, 'device_token'), password })).status).toBe(201);
  });

  test('is remembered together with others, for several accounts', async () => {
    const first = person;
    const device = await deviceOf();
    person = await newPerson(service);
    const both = textAt(await signIn({ device }), 'device_token');
    await lockOut();
    expect((await signIn({ device: both })).status).toBe(201);
    expect((await signIn({ device: both, email: first.email })).status).toBe(201);
  });
});

test.each(['x', 'A'.repeat(22), `${'A'.repeat(22)}.${'A'.repeat(22)}`])(
  'treats the sender of the device token %s as a stranger',
  async (device) => {
    await lockOut();
    expect((await signIn({ device })).status).toBe(429);
  },
);

test('the holder of a session can change the password while strangers have locked the address', async () => {
  await lockOut();
  const answer = await call(`${service.url}/v1/console/account/password`, {
    token: person.token,
    json: { current_password: PASSWORD, new_password: 'another long enough passphrase' },
  });
  expect(answer.status).toBe(200);
});
