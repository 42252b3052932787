import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, newEmail, startAuthService } from './support/auth-service.ts';
import { call } from './support/http.ts';
import { newPerson, PASSWORD, type Person } from './support/partner.ts';

const SCRIPT_BYTES_MAX = 10 * 1024;

let service: AuthService;
let person: Person;

beforeAll(async () => {
  service = await startAuthService();
  person = await newPerson(service);
});
afterAll(() => service.stop());

const submit = async (
  path: string,
  fields: Record<string, string>,
  headers: Record<string, string> = { origin: service.url },
) => {
  const response = await fetch(`${service.url}${path}`, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers,
    redirect: 'manual',
  });
  return { response, text: await response.text() };
};

/** Resumes the console session of the cookies that a form set. */
const resume = async (response: Response, origin = service.url) => {
  const cookie = response.headers
    .getSetCookie()
    .map((header) => header.split(';', 1)[0])
    .join('; ');
  return await call(`${service.url}/v1/console/session/resume`, { method: 'POST', headers: { cookie, origin } });
};

test('/prices works without script, and says so where prices are missing because their services do not respond', async () => {
  const answer = await fetch(`${service.url}/prices?locale=en`);
  const text = await answer.text();
  expect([answer.status, answer.headers.get('content-language')]).toEqual([200, 'en']);
  expect(text).toContain('<h1>Plans and prices</h1>');
  expect(text.match(/Prices cannot be shown right now/g)).toHaveLength(2);
  expect(text).not.toContain('<script');
});

describe('/sign-in', () => {
  test('shows a form without script, in the language of the browser or the address', async () => {
    const italian = await fetch(`${service.url}/sign-in`, { headers: { 'accept-language': 'it-IT' } });
    const text = await italian.text();
    expect(text).toContain('<html lang="it">');
    expect(text).toContain('<form method="post" action="/sign-in">');
    // Only passkeys need a script.
    expect(text.match(/<script/g)).toHaveLength(1);
    const [, script = ''] = /<script[^>]*>([\s\S]*)<\/script>/.exec(text) ?? [];
    expect(gzipSync(script).length).toBeLessThan(SCRIPT_BYTES_MAX);
    expect(italian.headers.get('content-security-policy')).toContain("default-src 'none'");
    const english = await fetch(`${service.url}/sign-in?locale=en&next=%2Fkeys&reason=expired`);
    const page = await english.text();
    expect(page).toContain('Your session has ended');
    expect(page).toContain('name="next" value="/keys"');
  });

  test('signs in, sets the console’s cookies and redirects to the requested page', async () => {
    const { response } = await submit('/sign-in', { email: person.email, password: PASSWORD, next: '/usage?days=7' });
    expect([response.status, response.headers.get('location')]).toEqual([303, '/usage?days=7']);
    const resumed = await resume(response);
    expect(resumed.status).toBe(200);
    expect(resumed.body).toMatchObject({ account: { svc_user_id: person.userId } });
  });

  test.each(['//evil.example/', 'https://evil.example/', '/\\evil.example', ''])(
    'redirects to the overview instead of %j',
    async (next) => {
      const { response } = await submit('/sign-in', { email: person.email, password: PASSWORD, next });
      expect(response.headers.get('location')).toBe('/');
    },
  );

  test('shows the form again with one message for a wrong password and an unknown address', async () => {
    const known = await submit('/sign-in', { email: person.email, password: 'wrong', locale: 'en' });
    const unknown = await submit('/sign-in', { email: newEmail(), password: 'wrong', locale: 'en' });
    for (const { response, text } of [known, unknown]) {
      expect(response.status).toBe(200);
      expect(text).toContain('The email address or the password is wrong');
      expect(text).not.toContain('value="wrong"');
      expect(response.headers.getSetCookie()).toEqual([]);
    }
  });

  test('starts a session at localhost if the base URL is an IP address, where browsers allow no passkey', async () => {
    const origin = service.url.replace('127.0.0.1', 'localhost');
    const { response } = await submit('/sign-in', { email: person.email, password: PASSWORD }, { origin });
    expect([response.status, response.headers.get('location')]).toEqual([303, '/']);
    expect((await resume(response, origin)).body).toMatchObject({ account: { email: person.email } });
  });

  test('refuses a form from another site', async () => {
    for (const origin of ['https://evil.example', 'null']) {
      const { response } = await submit('/sign-in', { email: person.email, password: PASSWORD }, { origin });
      expect(response.status).toBe(400);
      expect(response.headers.getSetCookie()).toEqual([]);
    }
  });
});

describe('/sign-up', () => {
  test('works without script, and allows its own, the password meter and its worker by a nonce', async () => {
    const page = await fetch(`${service.url}/sign-up?locale=en`);
    const policy = page.headers.get('content-security-policy') ?? '';
    const [, nonce] = /; script-src 'nonce-([\w+/]{24})'; worker-src 'self'$/.exec(policy) ?? [];
    const text = await page.text();
    expect(text).toContain(`<script nonce="${nonce}" type="module" src="/password-strength.js"></script>`);
    const nonces = [...text.matchAll(/<script nonce="([^"]+)"/g)].map(([, each]) => each);
    expect(nonces).toEqual([nonce, nonce]);
    expect(text.match(/<script/g)).toHaveLength(2);
  });

  test('opens a personal account and signs in', async () => {
    const email = newEmail();
    const fields = { email, password: PASSWORD, account_type: 'personal', display_name: 'Ada', locale: 'en' };
    const { response } = await submit('/sign-up', fields);
    expect(response.status).toBe(303);
    const resumed = await resume(response);
    expect(resumed.body).toMatchObject({
      account: { email, account_type: 'personal', display_name: 'Ada', business_name: null, locale: 'en' },
    });
  });

  test('opens a business account, and asks for a missing name', async () => {
    const email = newEmail();
    const fields = { email, password: PASSWORD, account_type: 'business', locale: 'en' };
    const without = await submit('/sign-up', { ...fields, business_name: '' });
    expect(without.response.status).toBe(200);
    expect(without.text).toContain('Enter the name of the business');
    const { response } = await submit('/sign-up', { ...fields, business_name: 'Acme' });
    expect((await resume(response)).body).toMatchObject({
      account: { account_type: 'business', business_name: 'Acme' },
    });
  });

  test('shows faults at their fields and keeps the input', async () => {
    const { text } = await submit('/sign-up', { email: 'no address', password: 'short', locale: 'en' });
    expect(text).toContain('Enter a valid email address.');
    expect(text).toContain('The password must have 12 to 128 characters.');
    expect(text).toContain('value="no address"');
    const taken = await submit('/sign-up', { email: person.email, password: PASSWORD, locale: 'en' });
    expect(taken.text).toContain('This address already has an account');
  });
});
