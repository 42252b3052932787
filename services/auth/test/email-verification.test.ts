import { hash } from '@node-rs/argon2';
import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type AuthService, newEmail, startAuthService } from './support/auth-service.ts';
import { newBrowser } from './support/browser.ts';
import { type Answer, call, textAt } from './support/http.ts';
import { type Mailbox, startMailbox } from './support/mailbox.ts';
import {
  challengeOf,
  claimsOf,
  consentRequest,
  newApp,
  newPerson,
  newVerifier,
  PASSWORD,
  type Person,
  type RegisteredApp,
  STATE,
} from './support/partner.ts';

vi.mock('@node-rs/argon2', { spy: true });

let service: AuthService;
let mailbox: Mailbox;
let app: RegisteredApp;

beforeAll(async () => {
  mailbox = await startMailbox();
  service = await startAuthService({ MAIL_URL: mailbox.url, EMAIL_VERIFICATION: 'required' });
  const owner = await newPerson(service, 'business');
  await confirm(await mailbox.tokenFor(owner.email, 'verify-email'));
  app = await newApp(service, owner);
});
afterAll(async () => {
  await service?.stop();
  await mailbox?.stop();
});

const post = (path: string, json: object, token?: string): Promise<Answer> =>
  call(`${service.url}/v1/${path}`, { json, token });
const confirm = (token: string): Promise<Answer> => post('console/account/verification/confirm', { token });
const codeOf = (answer: Answer) => [answer.status, textAt(answer, 'detail', 'code')];
const signUp = (email: string): Promise<Answer> =>
  post('console/accounts', { email, password: PASSWORD, account_type: 'personal', display_name: 'Ada' });
const consent = (person: Person, over: object = {}): Promise<Answer> =>
  post('integrations/oauth/authorize', consentRequest(app, newVerifier(), over), person.token);

describe('an account whose address is not confirmed', () => {
  test('signs in and looks, but registers no app and approves no consent', async () => {
    const person = await newPerson(service, 'business');
    expect((await call(`${service.url}/v1/integrations/connections`, { token: person.token })).status).toBe(200);
    const registered = await post(
      'integrations/apps',
      { name: 'App', redirect_uris: ['https://a.example/'] },
      person.token,
    );
    expect(codeOf(registered)).toEqual([403, 'email_not_verified']);
    expect(codeOf(await consent(person))).toEqual([403, 'email_not_verified']);
    expect((await consent(person, { approved: false })).status).toBe(200);
  });

  test('has tokens that tell the other services, which a confirmation corrects', async () => {
    const person = await newPerson(service);
    expect(claimsOf(person.token)['email_unverified']).toBe(true);
    const token = await mailbox.tokenFor(person.email, 'verify-email');
    expect((await confirm(token)).body).toMatchObject({ account: { email: person.email, email_verified: true } });
    expect(await service.outbox(`revocation:verified.${person.userId}`)).toHaveLength(1);
    expect((await consent(person)).status).toBe(200);
    const renewed = await post('console/sessions', { email: person.email, password: PASSWORD });
    expect(claimsOf(textAt(renewed, 'session_token'))['email_unverified']).toBeUndefined();
    expect(codeOf(await confirm(token))).toEqual([400, 'token_invalid']);
  });

  test('gets the link again on the consent page, and approves there once it is confirmed', async () => {
    const person = await newPerson(service);
    await confirmLater(person);
    const browser = newBrowser(service);
    const query = new URLSearchParams({
      client_id: app.clientId,
      redirect_uri: app.redirectUri,
      code_challenge: challengeOf(newVerifier()),
      state: STATE,
      locale: 'en',
    });
    const signInPage = await browser.open(`/v1/integrations/oauth/authorize?${query}`);
    const page = await browser.submit(signInPage, 'sign-in', { email: person.email, password: PASSWORD });
    const refused = await browser.submit(page, 'decision', { decision: 'approve', limit: '' });
    expect(refused.text).toContain('Confirm your email address first');
    const links = () =>
      mailbox.mailsTo(person.email).flatMap((mail) => mail.links.filter((link) => link.includes('verify-email')));
    await waitFor(() => links().length === 2);
    await confirm(await mailbox.tokenFor(person.email, 'verify-email'));
    const approved = await browser.submitOnce(refused, 'decision', { decision: 'approve', limit: '' });
    expect(approved.location).toMatch(/^https:\/\/app\.example\/callback\?code=/);
  });
});

/** Voids the link of the sign-up, so that the next one in the mailbox works only if another was mailed. */
const confirmLater = async (person: Person): Promise<void> => {
  await mailbox.tokenFor(person.email, 'verify-email');
  await service.database('mailed_tokens').where({ user_id: person.userId }).delete();
};

describe('POST /v1/console/account/verification', () => {
  test('mails a new link, five within an hour, and none to a confirmed address', async () => {
    const person = await newPerson(service);
    for (let round = 0; round < 6; round += 1)
      expect((await post('console/account/verification', {}, person.token)).status).toBe(202);
    const mails = () => service.database('mails').where({ recipient: person.email });
    expect(await mails()).toHaveLength(5);
    service.clock.advanceMs(3_600_000);
    await confirm(await mailbox.tokenFor(person.email, 'verify-email'));
    await post('console/account/verification', {}, person.token);
    expect(await mails()).toHaveLength(5);
  });
});

describe('POST /v1/console/accounts', () => {
  test('answers a taken address like a free one, stores nothing and mails its owner', async () => {
    const email = newEmail();
    const first = await signUp(email);
    const accounts = () => service.database('accounts').count({ count: '*' }).first();
    const before = await accounts();
    const second = await signUp(email.toUpperCase());
    expect(second.status).toBe(first.status);
    const varying = { svc_user_id: expect.stringMatching(/^usr_/), created_at: expect.any(String) };
    expect(second.body).toEqual({ account: { ...(first.body as { account: object }).account, ...varying } });
    expect(textAt(second, 'account', 'svc_user_id')).not.toBe(textAt(first, 'account', 'svc_user_id'));
    expect(await accounts()).toEqual(before);
    expect(await service.outbox(`account:${textAt(second, 'account', 'svc_user_id')}`)).toEqual([]);
    const kinds = await service.database('mails').where({ recipient: email }).orderBy('id').pluck('kind');
    expect(kinds).toEqual(['verify_email', 'sign_up_repeated']);
  });

  test('hashes the password for a taken address as for a free one', async () => {
    const taken = newEmail();
    await signUp(taken);
    for (const email of [taken, newEmail()]) {
      vi.mocked(hash).mockClear();
      await signUp(email);
      expect(hash).toHaveBeenCalledTimes(1);
    }
  });
});

test('a change to a taken address is answered like one to a free address, and mails nothing there', async () => {
  const person = await newPerson(service);
  const other = await newPerson(service);
  const answer = await post('console/account/email', { current_password: PASSWORD, email: other.email }, person.token);
  expect([answer.status, answer.body]).toEqual([202, { pending_email: other.email }]);
  const kinds = await service.database('mails').where({ recipient: other.email }).pluck('kind');
  expect(kinds).toEqual(['verify_email']);
});
