import { hash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import { type BillingStandIn, startBillingStandIn } from './support/billing-stand-in.ts';
import { type Browser, newBrowser, type Shown } from './support/browser.ts';
import { type Answer, call, textAt } from './support/http.ts';
import { newApp, newPerson, PASSWORD, type Person, postToken, type RegisteredApp, refresh } from './support/partner.ts';

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code';
const PAGE = '/v1/integrations/oauth/device';

let billing: BillingStandIn;
let service: AuthService;
let owner: Person;
let app: RegisteredApp;

beforeAll(async () => {
  billing = await startBillingStandIn();
  service = await startAuthService({ BILLING_INTERNAL_URL: billing.url });
  owner = await newPerson(service, 'business');
  app = await newApp(service, owner, { name: 'Terminal tool', device_flow: true });
});
afterAll(async () => {
  await service.stop();
  await billing.stop();
});

const ask = (over: Record<string, string> = {}, of = app): Promise<Answer> =>
  call(`${service.url}/v1/integrations/oauth/device_authorization`, { form: { client_id: of.clientId, ...over } });
const newCodes = async (over: Record<string, string> = {}, of = app) => {
  const answer = await ask(over, of);
  expect(answer.status, answer.text).toBe(200);
  return { deviceCode: textAt(answer, 'device_code'), userCode: textAt(answer, 'user_code') };
};
const poll = (deviceCode: string, of = app): Promise<Answer> =>
  postToken(service, { grant_type: GRANT_TYPE, client_id: of.clientId, device_code: deviceCode });
const expectError = (answer: Answer, error: string, status = 400): void => {
  expect([answer.status, answer.body]).toMatchObject([status, { error }]);
};
/** Signs in at the page of an address, as a browser is led there. */
const signIn = async (person: Person, path = PAGE): Promise<{ browser: Browser; page: Shown }> => {
  const browser = newBrowser(service);
  const form = await browser.open(`${path}${path.includes('?') ? '&' : '?'}locale=en`);
  return { browser, page: await browser.submit(form, 'sign-in', { email: person.email, password: PASSWORD }) };
};
const typeCode = async (person: Person, userCode: string) => {
  const { browser, page } = await signIn(person);
  return { browser, consent: await browser.submit(page, 'device', { user_code: userCode }) };
};
const connectDevice = async (person: Person, over: Record<string, string> = {}) => {
  const codes = await newCodes(over);
  const { browser, consent } = await typeCode(person, codes.userCode);
  const done = await browser.submit(consent, 'decision', { decision: 'approve' });
  expect(done.text).toContain('Device connected');
  return { ...codes, browser, consent };
};

describe('RFC 8628 §3.2: device authorization', () => {
  test('responds with codes, the address and the interval', async () => {
    const answer = await ask({ device_name: 'Laptop, terminal' });
    const userCode = textAt(answer, 'user_code');
    expect(userCode).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    expect(answer.body).toEqual({
      device_code: expect.any(String),
      user_code: userCode,
      verification_uri: `${service.url}${PAGE}`,
      verification_uri_complete: `${service.url}${PAGE}?user_code=${userCode}`,
      expires_in: 600,
      interval: 5,
    });
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  test('is named in the metadata (§4)', async () => {
    const metadata = await call(`${service.url}/.well-known/oauth-authorization-server`);
    expect(metadata.body).toMatchObject({
      device_authorization_endpoint: `${service.url}/v1/integrations/oauth/device_authorization`,
      grant_types_supported: expect.arrayContaining([GRANT_TYPE]),
    });
  });

  test('authenticates a confidential app by its secret', async () => {
    const confidential = await newApp(service, owner, { client_type: 'confidential', device_flow: true });
    expectError(await ask({}, confidential), 'invalid_client', 401);
    expect((await ask({ client_secret: confidential.secret ?? '' }, confidential)).status).toBe(200);
    const basic = Buffer.from(`${confidential.clientId}:${confidential.secret}`).toString('base64');
    const byHeader = await call(`${service.url}/v1/integrations/oauth/device_authorization`, {
      form: {},
      headers: { authorization: `Basic ${basic}` },
    });
    expect(byHeader.status).toBe(200);
  });

  test('unauthorized_client without device_flow, which its owner switches', async () => {
    const other = await newApp(service, owner);
    expectError(await ask({}, other), 'unauthorized_client');
    const change = (device_flow: boolean) =>
      call(`${service.url}/v1/integrations/apps/${other.clientId}`, {
        method: 'PATCH',
        token: owner.token,
        json: { active: true, device_flow },
      });
    expect((await change(true)).body).toMatchObject({ device_flow: true });
    const { deviceCode, userCode } = await newCodes({}, other);
    await change(false);
    expectError(await poll(deviceCode, other), 'unauthorized_client');
    const { consent } = await typeCode(await newPerson(service), userCode);
    expect(consent.text).toContain('deactivated');
  });

  test('ignores unknown scopes beside known ones', async () => {
    const { userCode } = await newCodes({ scope: 'usage:read unknown' });
    const row = await service
      .database('device_codes')
      .where({ user_code: userCode.replace('-', '') })
      .first();
    expect(row.scope).toBe('usage:read');
  });

  test.each([
    ['invalid_scope', { scope: 'unknown' }],
    ['invalid_request', { device_name: ' ' }],
    ['invalid_request', { device_name: 'x'.repeat(81) }],
    ['invalid_request', { device_name: 'reversed \u202e name' }],
    ['invalid_target', { resource: 'https://other.example' }],
    ['invalid_authorization_details', { authorization_details: '{' }],
    ['invalid_authorization_details', { authorization_details: '[{"type":"other"}]' }],
  ])('%s for %j', async (error, over) => {
    expectError(await ask(over), error);
  });

  test('422 without client_id, 401 for an unknown app', async () => {
    const answer = await call(`${service.url}/v1/integrations/oauth/device_authorization`, { form: {} });
    expect([answer.status, answer.body]).toMatchObject([422, { detail: [{ loc: ['form', 'client_id'] }] }]);
    expectError(await ask({ client_id: 'app_unknown' }), 'invalid_client', 401);
  });
});

describe('the journey', () => {
  test('connects a device whose code is typed in lower case without the dash', async () => {
    const person = await newPerson(service);
    const { deviceCode, userCode } = await newCodes({ device_name: 'Laptop, terminal', scope: 'inference' });
    expectError(await poll(deviceCode), 'authorization_pending');
    const { browser, consent } = await typeCode(person, userCode.toLowerCase().replace('-', ' '));
    expect(consent.status).toBe(200);
    expect(consent.text).not.toContain('<script');
    for (const text of ['Terminal tool', 'Laptop, terminal', '127.0.0.0/24', 'anyone else gave you the code']) {
      expect(consent.text).toContain(text);
    }
    const done = await browser.submit(consent, 'decision', { decision: 'approve', limit: '2.50', period: 'week' });
    expect([done.status, done.text.includes('Device connected')]).toEqual([200, true]);
    const tokens = await poll(deviceCode);
    expect(tokens.body).toMatchObject({
      scope: 'inference',
      svc_user_id: person.userId,
      authorization_details: [{ limit_micros: 2_500_000, period: 'week' }],
    });
    expect((await refresh(service, { app, token: textAt(tokens, 'refresh_token') })).status).toBe(200);
    const grants = await call(`${service.url}/v1/integrations/connections/${app.clientId}/grants`, {
      token: person.token,
    });
    expect(grants.body).toMatchObject({ data: [{ device_name: 'Laptop, terminal', scope: 'inference' }] });
  });

  test('shows the code of a complete address and asks to confirm it, never filled in', async () => {
    const person = await newPerson(service);
    const { deviceCode, userCode } = await newCodes();
    const { browser, page } = await signIn(person, `${PAGE}?user_code=${userCode}`);
    expect(page.text).toContain(`<strong>${userCode}</strong>`);
    expect(page.text).not.toContain(`value="${userCode}`);
    const consent = await browser.submit(page, 'device');
    expect(consent.text).toContain('device without a name');
    await browser.submit(consent, 'decision', { decision: 'approve' });
    expect((await poll(deviceCode)).status).toBe(200);
  });

  test('offers the limit that the device proposes', async () => {
    const details = [{ type: 'inference_budget', limit_micros: 3_000_000, currency: 'EUR', period: 'month' }];
    const { userCode } = await newCodes({ authorization_details: JSON.stringify(details) });
    const { consent } = await typeCode(await newPerson(service), userCode);
    expect(consent.text).toContain('value="3.00"');
  });

  test('answers a malformed address with a page to a browser, and with JSON to others', async () => {
    for (const query of ['locale=fr', `user_code=${'x'.repeat(65)}`, 'user_code=a&user_code=b']) {
      const page = await newBrowser(service).open(`${PAGE}?${query}`, { accept: 'text/html' });
      expect([page.status, page.headers.get('content-type')]).toEqual([422, 'text/html; charset=utf-8']);
      expect((await call(`${service.url}${PAGE}?${query}`)).body).toMatchObject({ detail: [{}] });
    }
  });

  test('speaks Italian, and leads to the same code in the other language', async () => {
    const { userCode } = await newCodes();
    const { browser, consent } = await typeCode(await newPerson(service), userCode);
    const italian = /href="([^"]*locale=it)"/.exec(consent.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const page = await browser.open(italian);
    expect(page.text).toContain('È questo il codice sul tuo dispositivo?');
  });

  test('access_denied after a denial, and the code is spent', async () => {
    const person = await newPerson(service);
    const { deviceCode, userCode } = await newCodes();
    const { browser, consent } = await typeCode(person, userCode);
    const denied = await browser.submit(consent, 'decision', { decision: 'deny' });
    expect(denied.text).toContain('Request denied');
    expectError(await poll(deviceCode), 'access_denied');
    const again = await browser.submit(consent, 'decision', { decision: 'approve' });
    expect(again.status).toBe(400);
    expect((await browser.submit(again, 'device', { user_code: userCode })).status).toBe(400);
  });

  test('shows the same page after a double click, and no code is accepted twice', async () => {
    const person = await newPerson(service);
    const { deviceCode, userCode, browser, consent } = await connectDevice(person);
    const again = await browser.submit(consent, 'decision', { decision: 'approve' });
    expect(again.text).toContain('Device connected');
    const page = await browser.open(`${PAGE}?user_code=${userCode}&locale=en`);
    expect([page.status, page.text.includes('already used')]).toEqual([400, true]);
    expect((await poll(deviceCode)).status).toBe(200);
    expectError(await poll(deviceCode), 'invalid_grant');
  });

  test('refuses a form of another browser, and asks again after a sign-in as another person', async () => {
    const { userCode } = await newCodes();
    const person = await newPerson(service);
    const { browser, consent } = await typeCode(person, userCode);
    const stranger = await signIn(await newPerson(service));
    const refused = await stranger.browser.submit(consent, 'decision', { decision: 'approve' });
    expect(refused.status).toBe(400);
    const signedOut = await browser.submit(consent, 'sign-out');
    expect(signedOut.text).toContain('to connect a device');
    const other = await newPerson(service);
    const page = await browser.submit(signedOut, 'sign-in', { email: other.email, password: PASSWORD });
    expect(page.text).toContain(`<strong>${userCode}</strong>`);
    const late = await browser.submit(consent, 'decision', { decision: 'approve' });
    expect(late.text).toContain('Enter the code');
  });

  test('asks again for an invalid amount, and keeps the request if billing is away', async () => {
    const { deviceCode, userCode } = await newCodes();
    const { browser, consent } = await typeCode(await newPerson(service), userCode);
    const again = await browser.submit(consent, 'decision', { decision: 'approve', limit: 'much', period: 'week' });
    expect(again.text).toContain('Enter an amount');
    billing.isDown = true;
    const away = await browser.submit(again, 'decision', { decision: 'approve', limit: '1', period: 'week' });
    billing.isDown = false;
    expect(away.status).toBe(503);
    expectError(await poll(deviceCode), 'authorization_pending');
    await browser.submit(again, 'decision', { decision: 'approve', limit: '1', period: 'week' });
    expect((await poll(deviceCode)).status).toBe(200);
  });

  test('ends with its grant, before and after the first token', async () => {
    const person = await newPerson(service);
    const { deviceCode } = await connectDevice(person);
    const path = `${service.url}/v1/integrations/connections/${app.clientId}`;
    await call(path, { method: 'DELETE', token: person.token });
    expectError(await poll(deviceCode), 'invalid_grant');
  });
});

describe('RFC 8628 §3.5: polls', () => {
  test('slow_down within the interval, which it makes five seconds longer', async () => {
    const { deviceCode } = await newCodes();
    expectError(await poll(deviceCode), 'authorization_pending');
    expectError(await poll(deviceCode), 'slow_down');
    service.clock.advanceMs(6_000);
    expectError(await poll(deviceCode), 'slow_down');
    service.clock.advanceMs(15_000);
    expectError(await poll(deviceCode), 'authorization_pending');
    service.clock.advanceMs(10_000);
    expectError(await poll(deviceCode), 'slow_down');
  });

  test('accepts polls that keep the interval', async () => {
    const { deviceCode } = await newCodes();
    for (let polls = 0; polls < 4; polls += 1) {
      expectError(await poll(deviceCode), 'authorization_pending');
      service.clock.advanceMs(5_000);
    }
  });

  test('that arrive at once after the approval get one grant, which goes on', async () => {
    const { deviceCode } = await connectDevice(await newPerson(service));
    const answers = await Promise.all(Array.from({ length: 8 }, () => poll(deviceCode)));
    const [issued, ...others] = answers.toSorted((one, other) => one.status - other.status);
    if (issued === undefined) throw new Error('no answer');
    expect(issued.status, issued.text).toBe(200);
    for (const other of others) expectError(other, 'invalid_grant');
    expectError(await poll(deviceCode), 'invalid_grant');
    expect((await refresh(service, { app, token: textAt(issued, 'refresh_token') })).status).toBe(200);
  });

  test('write nothing', async () => {
    const { deviceCode } = await newCodes();
    const digest = hash('sha256', deviceCode, 'buffer');
    const stateOf = () => service.database('device_codes').where({ digest }).first('xmin', service.database.raw('*'));
    const before = await stateOf();
    for (let polls = 0; polls < 3; polls += 1) await poll(deviceCode);
    expect(await stateOf()).toEqual(before);
  });

  test('expired_token after ten minutes', async () => {
    const { deviceCode, userCode } = await newCodes();
    await service
      .database('device_codes')
      .where({ user_code: userCode.replace('-', '') })
      .update({ expires_at: service.database.raw("now() - interval '1 second'") });
    expectError(await poll(deviceCode), 'expired_token');
    const { consent } = await typeCode(await newPerson(service), userCode);
    expect(consent.status).toBe(400);
  });

  test('invalid_grant for another app and an unknown code, invalid_request without one', async () => {
    const other = await newApp(service, owner, { device_flow: true });
    const { deviceCode } = await newCodes();
    expectError(await poll(deviceCode, other), 'invalid_grant');
    expectError(await poll('unknown'), 'invalid_grant');
    expectError(await postToken(service, { grant_type: GRANT_TYPE, client_id: app.clientId }), 'invalid_request');
  });
});

describe('guesses', () => {
  beforeEach(() => service.database('sign_in_attempts').delete());
  const open = (userCode: string) => newBrowser(service).openOnce(`${PAGE}?user_code=${userCode}`);

  test('twenty wrong codes, typed or opened, end with 429 for every code until ten minutes are over', async () => {
    const person = await newPerson(service);
    const { userCode } = await newCodes();
    const { browser, page } = await signIn(person);
    for (let guess = 0; guess < 10; guess += 1) {
      expect((await browser.submit(page, 'device', { user_code: 'BBBB-BBBB' })).status).toBe(400);
      expect((await open('hello')).status).toBe(400);
    }
    const refused = await browser.submit(page, 'device', { user_code: userCode });
    expect([refused.status, refused.text.includes('Too many wrong codes')]).toEqual([429, true]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(590);
    expect((await open(userCode)).status).toBe(429);
    service.clock.advanceMs(600_000);
    expect((await browser.submit(page, 'device', { user_code: userCode })).status).toBe(200);
  });

  test('a hundred parallel guesses get twenty answers', async () => {
    const statuses = await Promise.all(Array.from({ length: 100 }, async () => (await open('BBBB-BBBB')).status));
    expect(statuses.filter((status) => status === 400)).toHaveLength(20);
    expect(statuses.filter((status) => status === 429)).toHaveLength(80);
  });

  test('five thousand wrong codes from all sources refuse those of every source', async () => {
    await service.database.raw(
      `INSERT INTO sign_in_attempts (address_digest, source_digest, attempted_at)
       SELECT ?, sha256(i::text::bytea), ? FROM generate_series(1, 4999) i`,
      [hash('sha256', 'device-code', 'buffer'), service.clock()],
    );
    expect((await open('BBBB-BBBB')).status).toBe(400);
    expect((await open('BBBB-BBBB')).status).toBe(429);
  });

  test('a right code counts for nothing', async () => {
    const { userCode } = await newCodes();
    for (let guess = 0; guess < 25; guess += 1) expect((await open(userCode)).status).toBe(303);
  });
});
