import { freePort } from '@svc/testing';
import { Secret, TOTP } from 'otpauth';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AuthService, newEmail, startAuthService } from './support/auth-service.ts';
import { type Browser, newBrowser, type Shown } from './support/browser.ts';
import { type Answer, call, textAt } from './support/http.ts';
import { type Mailbox, startMailbox } from './support/mailbox.ts';
import { connect, newApp, newPerson, PASSWORD, type Person, refresh } from './support/partner.ts';
import { passUpstreamFrom, signInUpstream, startUpstream, UPSTREAM_CLIENT, type Upstream } from './support/upstream.ts';

let service: AuthService;
let upstream: Upstream;
let mailbox: Mailbox;

beforeAll(async () => {
  const port = await freePort();
  upstream = await startUpstream(await freePort(), `http://127.0.0.1:${port}/v1/console/sso/callback`);
  mailbox = await startMailbox();
  const environment = {
    SSO_ISSUER: upstream.issuer,
    SSO_CLIENT_ID: UPSTREAM_CLIENT.id,
    SSO_CLIENT_SECRET: UPSTREAM_CLIENT.secret,
    SSO_NAME: 'Acme',
    MAIL_URL: mailbox.url,
  };
  service = await startAuthService(environment, undefined, port);
});
afterAll(async () => {
  await service?.stop();
  await upstream?.stop();
  await mailbox?.stop();
});
beforeEach(() => {
  upstream.ignoresFreshness = false;
});

const START = '/v1/console/sso/start';
const signIn = (browser: Browser, start?: string) => signInUpstream({ service, upstream }, browser, start);
const asUpstreamPerson = (email: string) => {
  upstream.person = { sub: newEmail(), email, email_verified: true, name: 'Ada' };
};

/** Signs a person up and confirms the address. */
const newVerifiedPerson = async (accountType: 'personal' | 'business' = 'personal'): Promise<Person> => {
  const person = await newPerson(service, accountType);
  await service.database('accounts').where({ id: person.userId }).update({ email_verified_at: new Date() });
  return person;
};
const totpCode = (secret: string, steps = 0): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: service.clock().getTime() + steps * 30_000 });
const addTotp = async ({ token }: Person): Promise<string> => {
  const factors = `${service.url}/v1/console/account/factors/totp`;
  const added = await call(factors, { token, json: {} });
  const secret = textAt(added, 'secret');
  const confirm = `${factors}/${textAt(added, 'id')}/confirm`;
  expect((await call(confirm, { token, json: { code: totpCode(secret) } })).status).toBe(200);
  return secret;
};
const identitiesOf = ({ userId }: Person) => service.database('sso_identities').where({ user_id: userId });
const resume = (browser: Browser): Promise<Answer> =>
  call(`${service.url}/v1/console/session/resume`, {
    method: 'POST',
    headers: { cookie: `svc_console=${browser.cookies.get('svc_console') ?? ''}` },
  });
/** Posts a form of our pages with the cookies of a browser, which keeps those of the answer. */
const submit = async (
  browser: Browser,
  path: string,
  fields: Record<string, string>,
  origin = service.url,
): Promise<Shown> => {
  const response = await fetch(`${service.url}${path}`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ locale: 'en', ...fields }),
    headers: { origin, cookie: [...browser.cookies].map((pair) => pair.join('=')).join('; ') },
  });
  for (const cookie of response.headers.getSetCookie()) {
    const [name = '', value = ''] = (cookie.split(';')[0] ?? '').split('=', 2);
    browser.cookies.set(name, value);
  }
  const location = response.headers.get('location') ?? undefined;
  return { status: response.status, headers: response.headers, text: await response.text(), location };
};
const challengeIn = ({ text }: Shown): string => /name="challenge" value="([^"]+)"/.exec(text)?.[1] ?? '';
/** Arrives at the page that asks for a proof of the account. */
const arrive = async (person: Person, start?: string): Promise<{ browser: Browser; page: Shown }> => {
  asUpstreamPerson(person.email);
  const browser = newBrowser(service);
  const shown = await signIn(browser, start);
  expect([shown.status, shown.location?.startsWith(`${service.url}/sign-in/link?`)]).toEqual([303, true]);
  return { browser, page: await browser.open(shown.location ?? '') };
};

describe('single sign-on with the verified address of an account', () => {
  test('ends nothing and signs no one in', async () => {
    const person = await newVerifiedPerson();
    const app = await newApp(service, await newPerson(service, 'business'));
    const { refreshToken } = await connect(service, { app, person });
    await addTotp(person);
    asUpstreamPerson(person.email.toUpperCase());
    const browser = newBrowser(service);
    const shown = await signIn(browser);
    expect(shown.location).toContain('/sign-in/link');
    expect(browser.cookies.has('svc_console')).toBe(false);
    expect((await call(`${service.url}/v1/console/session`, { token: person.token })).status).toBe(200);
    expect((await refresh(service, { app, token: refreshToken })).status).toBe(200);
    expect(await service.outbox(`revocation:keys.${person.userId}`)).toEqual([]);
    expect(await service.database('totp_factors').where({ user_id: person.userId })).toHaveLength(1);
    expect(await identitiesOf(person)).toEqual([]);
    const { password_hash } = await service.database('accounts').where({ id: person.userId }).first();
    expect(password_hash).not.toBeNull();
  });

  test('links the identity after the password, and returns to the page that was asked for', async () => {
    const person = await newVerifiedPerson();
    const { browser, page } = await arrive(person, `${START}?return_to=${encodeURIComponent('/apps?locale=en')}`);
    expect(page.text).toContain('Sign in with Acme?');
    expect(page.text).toContain(person.email);
    expect(page.text).not.toContain('<script');
    const wrong = await submit(browser, '/sign-in/link', { password: 'not the password' });
    expect([wrong.status, await identitiesOf(person)]).toEqual([200, []]);
    expect(wrong.text).toContain('The email address or the password is wrong');
    const linked = await submit(browser, '/sign-in/link', { password: PASSWORD });
    expect([linked.status, linked.location]).toEqual([303, `${service.url}/apps?locale=en`]);
    expect(textAt(await resume(browser), 'account', 'svc_user_id')).toBe(person.userId);
    expect(await identitiesOf(person)).toHaveLength(1);
    expect(await service.database('mails').where({ user_id: person.userId, kind: 'identity_linked' })).toHaveLength(1);
    const again = newBrowser(service);
    await signIn(again);
    expect(textAt(await resume(again), 'account', 'svc_user_id')).toBe(person.userId);
    const byPassword = { email: person.email, password: PASSWORD };
    expect((await call(`${service.url}/v1/console/sessions`, { json: byPassword })).status).toBe(201);
  });

  test('asks for the second factor before it links, and at each later sign-in', async () => {
    const person = await newVerifiedPerson();
    const secret = await addTotp(person);
    const { browser } = await arrive(person);
    const step = await submit(browser, '/sign-in/link', { password: PASSWORD });
    expect([step.status, browser.cookies.has('svc_console')]).toEqual([200, false]);
    const challenge = challengeIn(step);
    const wrong = await submit(browser, '/sign-in/link/second-factor', { challenge, code: '000000' });
    expect([wrong.status, await identitiesOf(person)]).toEqual([200, []]);
    const code = totpCode(secret, 1);
    const linked = await submit(browser, '/sign-in/link/second-factor', { challenge, code });
    expect([linked.status, await identitiesOf(person)]).toEqual([303, [expect.anything()]]);

    const later = newBrowser(service);
    const asked = await signIn(later);
    expect([asked.status, later.cookies.has('svc_console')]).toEqual([200, false]);
    service.clock.advanceMs(60_000);
    const finish = { challenge: challengeIn(asked), code: totpCode(secret, 1), next: '/' };
    expect((await submit(later, '/sign-in/second-factor', finish)).status).toBe(303);
    service.clock.advanceMs(-60_000);
    expect(textAt(await resume(later), 'account', 'svc_user_id')).toBe(person.userId);
  });

  test('does not link to the account of another challenge', async () => {
    const person = await newVerifiedPerson();
    const thief = await newPerson(service);
    const secret = await addTotp(thief);
    const { browser } = await arrive(person);
    const json = { email: thief.email, password: PASSWORD };
    const challenge = textAt(await call(`${service.url}/v1/console/sessions`, { json }), 'detail', 'challenge');
    await submit(browser, '/sign-in/link/second-factor', { challenge, code: totpCode(secret, 1) });
    expect([await identitiesOf(person), await identitiesOf(thief)]).toEqual([[], []]);
    expect(browser.cookies.has('svc_console')).toBe(false);
  });

  test('links the identity by a mailed link, which works once and starts no session', async () => {
    const person = await newVerifiedPerson();
    const { browser } = await arrive(person);
    expect((await submit(browser, '/sign-in/link/mail', {})).text).toContain('Check your mail');
    const token = await mailbox.tokenFor(person.email, 'confirm');
    const opened = newBrowser(service);
    const page = await opened.open(`/sign-in/link/confirm?token=${token}&locale=en`);
    expect([page.status, await identitiesOf(person)]).toEqual([200, []]);
    const done = await submit(opened, '/sign-in/link/confirm', { token });
    expect([done.status, await identitiesOf(person)]).toEqual([200, [expect.anything()]]);
    expect(opened.cookies.has('svc_console')).toBe(false);
    expect((await submit(opened, '/sign-in/link/confirm', { token })).status).toBe(400);
    await signIn(browser);
    expect(textAt(await resume(browser), 'account', 'svc_user_id')).toBe(person.userId);
  });

  test('offers only the mailed link to an account without a password', async () => {
    const person = await newVerifiedPerson();
    await service.database('accounts').where({ id: person.userId }).update({ password_hash: null });
    const { page } = await arrive(person);
    expect(page.text).not.toContain('type="password"');
    expect(page.text).toContain('Mandami un link per email');
  });

  test('RFC 9700 §4.7: refuses forms of other sites, of other browsers and after half an hour', async () => {
    const person = await newVerifiedPerson();
    const { browser } = await arrive(person);
    const password = { password: PASSWORD };
    expect((await submit(browser, '/sign-in/link', password, 'https://evil.example')).status).toBe(400);
    expect((await submit(newBrowser(service), '/sign-in/link', password)).status).toBe(400);
    service.clock.advanceMs(31 * 60_000);
    expect((await submit(browser, '/sign-in/link', password)).status).toBe(400);
    service.clock.advanceMs(-31 * 60_000);
    expect(await identitiesOf(person)).toEqual([]);
  });

  test('links once if two tabs prove the account at the same time', async () => {
    const person = await newVerifiedPerson();
    const { browser } = await arrive(person);
    const tabs = await Promise.all([1, 2].map(() => submit(browser, '/sign-in/link', { password: PASSWORD })));
    expect(tabs.map(({ status }) => status)).toEqual([303, 303]);
    expect(await identitiesOf(person)).toHaveLength(1);
  });

  test('refuses an account that is about to be deleted', async () => {
    for (const isVerified of [true, false]) {
      const person = isVerified ? await newVerifiedPerson() : await newPerson(service);
      const path = `${service.url}/v1/console/account`;
      await call(path, { method: 'DELETE', token: person.token, json: { password: PASSWORD } });
      asUpstreamPerson(person.email);
      const shown = await signIn(newBrowser(service));
      expect([shown.status, JSON.parse(shown.text).detail.code]).toEqual([403, 'account_deletion_pending']);
      expect(await identitiesOf(person)).toEqual([]);
    }
  });

  test('does not open an account with an address to which its owner may return', async () => {
    const person = await newVerifiedPerson();
    const change = { current_password: PASSWORD, email: newEmail() };
    await call(`${service.url}/v1/console/account/email`, { token: person.token, json: change });
    const token = await mailbox.tokenFor(change.email, 'confirm-email');
    await call(`${service.url}/v1/console/account/email/confirm`, { json: { token } });
    asUpstreamPerson(person.email);
    expect((await signIn(newBrowser(service))).status).toBe(401);
  });
});

describe('POST /v1/console/sso/link', () => {
  const link = (person: Pick<Person, 'token'>) =>
    call(`${service.url}/v1/console/sso/link`, { token: person.token, json: { return_to: '/security' } });
  /** Follows the address of the answer in the browser that got its cookie. */
  const follow = async (answer: Answer, browser: Browser): Promise<Shown> => {
    const [cookie = ''] = answer.headers.getSetCookie();
    const [name = '', value = ''] = (cookie.split(';')[0] ?? '').split('=', 2);
    browser.cookies.set(name, value);
    return browser.openOnce(await passUpstreamFrom({ service, upstream }, textAt(answer, 'url')));
  };

  test('links an identity with any address to the account of the session', async () => {
    const person = await newPerson(service);
    upstream.person = { sub: newEmail(), email: newEmail(), email_verified: false };
    const shown = await follow(await link(person), newBrowser(service));
    expect([shown.status, shown.location]).toEqual([303, `${service.url}/security`]);
    const browser = newBrowser(service);
    await signIn(browser);
    expect(textAt(await resume(browser), 'account', 'svc_user_id')).toBe(person.userId);
  });

  test('refuses an identity of another account, and a session that has ended', async () => {
    asUpstreamPerson(newEmail());
    await signIn(newBrowser(service));
    const person = await newPerson(service);
    const taken = await follow(await link(person), newBrowser(service));
    expect([taken.status, JSON.parse(taken.text).detail.code]).toEqual([401, 'sso_failed']);
    asUpstreamPerson(newEmail());
    const started = await link(person);
    await call(`${service.url}/v1/console/session`, { method: 'DELETE', token: person.token });
    expect((await follow(started, newBrowser(service))).status).toBe(401);
    expect(await identitiesOf(person)).toEqual([]);
  });

  test('requires a session with a recent proof, and the cookie of its answer', async () => {
    expect((await call(`${service.url}/v1/console/sso/link`, { json: {} })).status).toBe(401);
    const person = await newPerson(service);
    asUpstreamPerson(newEmail());
    const answer = await link(person);
    const callback = await passUpstreamFrom({ service, upstream }, textAt(answer, 'url'));
    expect((await newBrowser(service).openOnce(callback)).status).toBe(401);
    service.clock.advanceMs(16 * 60_000);
    expect((await link(person)).status).toBe(403);
    service.clock.advanceMs(-16 * 60_000);
  });
});

describe('the freshness of single sign-on', () => {
  const addFactor = async (browser: Browser): Promise<Answer> =>
    call(`${service.url}/v1/console/account/factors/totp`, {
      token: textAt(await resume(browser), 'session_token'),
      json: {},
    });

  test('is not assumed: a sensitive act wants another proof', async () => {
    asUpstreamPerson(newEmail());
    const browser = newBrowser(service);
    await signIn(browser);
    const answer = await addFactor(browser);
    expect([answer.status, textAt(answer, 'detail', 'code')]).toEqual([403, 'reauthentication_required']);
  });

  test('counts if the provider was asked for it and states when the person signed in', async () => {
    asUpstreamPerson(newEmail());
    const browser = newBrowser(service);
    const asked = new URL((await newBrowser(service).openOnce(`${START}?fresh=true`)).location ?? '');
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({ prompt: 'login', max_age: '300' });
    await signIn(browser, `${START}?fresh=true`);
    expect((await addFactor(browser)).status).toBe(201);
  });

  test('OpenID Connect Core §3.1.3.7: refuses a provider that was asked for it and does not state the time', async () => {
    asUpstreamPerson(newEmail());
    upstream.ignoresFreshness = true;
    const browser = newBrowser(service);
    const shown = await signIn(browser, `${START}?fresh=true`);
    expect([shown.status, browser.cookies.has('svc_console')]).toEqual([401, false]);
  });
});
