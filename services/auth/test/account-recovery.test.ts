import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, newEmail, startAuthService } from './support/auth-service.ts';
import { type Answer, call, textAt } from './support/http.ts';
import { type Mailbox, startMailbox } from './support/mailbox.ts';
import { connect, newApp, newPerson, PASSWORD, type Person, refresh } from './support/partner.ts';

const NEW_PASSWORD = 'another long enough passphrase';
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

let service: AuthService;
let mailbox: Mailbox;

beforeAll(async () => {
  mailbox = await startMailbox();
  service = await startAuthService({ MAIL_URL: mailbox.url });
});
afterAll(async () => {
  await service?.stop();
  await mailbox?.stop();
});

const post = (path: string, json: object, token?: string): Promise<Answer> =>
  call(`${service.url}/v1/console${path}`, { json, token });
const codeOf = (answer: Answer) => [answer.status, textAt(answer, 'detail', 'code')];
const signIn = async (email: string, password = PASSWORD): Promise<number> =>
  (await post('/sessions', { email, password })).status;
const statusOf = async (token: string): Promise<number> =>
  (await call(`${service.url}/v1/console/session`, { token })).status;
const askForReset = async (email: string): Promise<string> => {
  expect((await post('/password-resets', { email })).status).toBe(202);
  return await mailbox.tokenFor(email, 'reset-password');
};
const reset = (token: string, over: object = {}): Promise<Answer> =>
  post('/password-resets/confirm', { token, password: NEW_PASSWORD, ...over });
const askForChange = async (person: Person, email: string): Promise<{ confirm: string; undo: string }> => {
  const answer = await post('/account/email', { current_password: PASSWORD, email }, person.token);
  expect([answer.status, answer.body]).toEqual([202, { pending_email: email.toLowerCase() }]);
  return {
    confirm: await mailbox.tokenFor(email.toLowerCase(), 'confirm-email'),
    undo: await mailbox.tokenFor(person.email, 'undo-email'),
  };
};
const confirmChange = (token: string): Promise<Answer> => post('/account/email/confirm', { token });
const undoChange = (token: string): Promise<Answer> => post('/account/email/undo', { token });

describe('POST /v1/console/password-resets', () => {
  test('returns the same 202 for known and unknown addresses, and mails only the known one', async () => {
    const person = await newPerson(service);
    const unknown = newEmail();
    const answers = [
      await post('/password-resets', { email: unknown }),
      await post('/password-resets', { email: person.email.toUpperCase() }),
    ];
    expect(answers.map(({ status, text }) => [status, text])).toEqual([
      [202, ''],
      [202, ''],
    ]);
    await mailbox.tokenFor(person.email, 'reset-password');
    expect(mailbox.mailsTo(unknown)).toEqual([]);
    expect(await service.database('password_reset_requests')).toEqual([]);
  });

  test('sets the password once, ends all access, confirms the address and mails a notice', async () => {
    const person = await newPerson(service);
    const app = await newApp(service, await newPerson(service, 'business'));
    const { refreshToken } = await connect(service, { app, person });
    const token = await askForReset(person.email);
    expect((await reset(token)).status).toBe(204);
    expect(await statusOf(person.token)).toBe(401);
    expect([await signIn(person.email), await signIn(person.email, NEW_PASSWORD)]).toEqual([401, 201]);
    expect((await refresh(service, { app, token: refreshToken })).status).toBe(400);
    expect(await service.outbox(`revocation:keys.${person.userId}`)).toHaveLength(1);
    expect(codeOf(await reset(token))).toEqual([400, 'token_invalid']);
    const row = await service.database('accounts').where({ id: person.userId }).first();
    expect(row.email_verified_at).not.toBeNull();
    expect(await service.database('mails').where({ user_id: person.userId, kind: 'password_changed' })).toHaveLength(1);
  });

  test('keeps connections and API keys with keep_access', async () => {
    const person = await newPerson(service);
    const app = await newApp(service, await newPerson(service, 'business'));
    const { refreshToken } = await connect(service, { app, person });
    expect((await reset(await askForReset(person.email), { keep_access: true })).status).toBe(204);
    expect(await statusOf(person.token)).toBe(401);
    expect((await refresh(service, { app, token: refreshToken })).status).toBe(200);
    expect(await service.outbox(`revocation:keys.${person.userId}`)).toEqual([]);
  });

  test('refuses a token that is unknown, older than 30 minutes or made for another purpose', async () => {
    const person = await newPerson(service);
    expect(codeOf(await reset('unknown'))).toEqual([400, 'token_invalid']);
    await post('/account/verification', {}, person.token);
    expect(codeOf(await reset(await mailbox.tokenFor(person.email, 'verify-email')))).toEqual([400, 'token_invalid']);
    const token = await askForReset(person.email);
    service.clock.advanceMs(31 * MINUTE_MS);
    expect(codeOf(await reset(token))).toEqual([400, 'token_invalid']);
    expect(await signIn(person.email)).toBe(201);
  });

  test('returns 422 for a common password, and the link still works afterwards', async () => {
    const person = await newPerson(service);
    const token = await askForReset(person.email);
    const answer = await reset(token, { password: 'Password1234' });
    expect([answer.status, answer.body]).toMatchObject([422, { detail: [{ loc: ['body', 'password'] }] }]);
    expect((await reset(token)).status).toBe(204);
  });

  test('sets only one password when many requests use the same link at once', async () => {
    const person = await newPerson(service);
    const token = await askForReset(person.email);
    const passwords = Array.from({ length: 4 }, (_, index) => `${NEW_PASSWORD} ${index}`);
    const statuses = (await Promise.all(passwords.map((password) => reset(token, { password })))).map(
      ({ status }) => status,
    );
    expect(statuses.toSorted()).toEqual([204, 400, 400, 400]);
    expect(await signIn(person.email, passwords[statuses.indexOf(204)])).toBe(201);
  });

  test('signs in the owner although strangers have locked the address', async () => {
    const person = await newPerson(service);
    for (let guess = 0; guess < 10; guess += 1) await signIn(person.email, 'a wrong guess');
    expect(await signIn(person.email)).toBe(429);
    await reset(await askForReset(person.email));
    expect(await signIn(person.email, NEW_PASSWORD)).toBe(201);
  });

  test('voids the link when the password is changed meanwhile', async () => {
    const person = await newPerson(service);
    const token = await askForReset(person.email);
    await post('/account/password', { current_password: PASSWORD, new_password: NEW_PASSWORD }, person.token);
    expect(codeOf(await reset(token))).toEqual([400, 'token_invalid']);
  });
});

describe('POST /v1/console/account/email', () => {
  test('changes the address only when the link mailed to the new one is confirmed', async () => {
    const person = await newPerson(service);
    const email = newEmail();
    const { confirm } = await askForChange(person, email.toUpperCase());
    expect([await signIn(person.email), await signIn(email)]).toEqual([201, 401]);
    const answer = await confirmChange(confirm);
    expect(answer.body).toMatchObject({ account: { email, email_verified: true } });
    expect([await signIn(person.email), await signIn(email)]).toEqual([401, 201]);
    expect(await statusOf(person.token)).toBe(200);
    expect(codeOf(await confirmChange(confirm))).toEqual([400, 'token_invalid']);
  });

  test('replaces an earlier request, and expires after a day', async () => {
    const person = await newPerson(service);
    const email = newEmail();
    const first = await askForChange(person, newEmail());
    const second = await askForChange(person, email);
    expect(codeOf(await confirmChange(first.confirm))).toEqual([400, 'token_invalid']);
    service.clock.advanceMs(DAY_MS + 1);
    expect(codeOf(await confirmChange(second.confirm))).toEqual([400, 'token_invalid']);
  });

  test('voids the link when the password is reset or changed meanwhile', async () => {
    const forgetful = await newPerson(service);
    const careful = await newPerson(service);
    const ofThief = await askForChange(forgetful, newEmail());
    const ofSpy = await askForChange(careful, newEmail());
    expect((await reset(await askForReset(forgetful.email))).status).toBe(204);
    await post('/account/password', { current_password: PASSWORD, new_password: NEW_PASSWORD }, careful.token);
    expect(codeOf(await confirmChange(ofThief.confirm))).toEqual([400, 'token_invalid']);
    expect(codeOf(await confirmChange(ofSpy.confirm))).toEqual([400, 'token_invalid']);
    expect([await signIn(forgetful.email, NEW_PASSWORD), await signIn(careful.email, NEW_PASSWORD)]).toEqual([
      201, 201,
    ]);
  });

  test('returns 409 for a taken address, on request or on confirmation', async () => {
    const person = await newPerson(service);
    const other = await newPerson(service);
    const taken = await post('/account/email', { current_password: PASSWORD, email: other.email }, person.token);
    expect(codeOf(taken)).toEqual([409, 'email_taken']);
    const email = newEmail();
    const mine = await askForChange(person, email);
    const theirs = await askForChange(other, email);
    const answers = await Promise.all([confirmChange(mine.confirm), confirmChange(theirs.confirm)]);
    // Each mailed link is the newest at that address, so both may be the same one.
    expect(answers.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(1);
  });
});

describe('POST /v1/console/account/email/undo', () => {
  test('cancels an unconfirmed change and ends every session', async () => {
    const person = await newPerson(service);
    const email = newEmail();
    const { confirm, undo } = await askForChange(person, email);
    expect((await undoChange(undo)).body).toMatchObject({ account: { email: person.email } });
    expect(codeOf(await confirmChange(confirm))).toEqual([400, 'token_invalid']);
    expect(await statusOf(person.token)).toBe(401);
    expect(codeOf(await undoChange(undo))).toEqual([400, 'token_invalid']);
  });

  test('restores the address for seven days, and refuses it to others until then', async () => {
    const person = await newPerson(service);
    const email = newEmail();
    const { confirm } = await askForChange(person, email);
    await confirmChange(confirm);
    const squat = await post('/accounts', { email: person.email, password: PASSWORD, account_type: 'personal' });
    expect(codeOf(squat)).toEqual([409, 'email_taken']);
    const undo = await mailbox.tokenFor(person.email, 'undo-email');
    service.clock.advanceMs(6 * DAY_MS);
    expect((await undoChange(undo)).body).toMatchObject({ account: { email: person.email } });
    expect([await signIn(person.email), await signIn(email)]).toEqual([201, 401]);
  });

  test('frees the former address after seven days', async () => {
    const person = await newPerson(service);
    const { confirm, undo } = await askForChange(person, newEmail());
    await confirmChange(confirm);
    service.clock.advanceMs(7 * DAY_MS + MINUTE_MS);
    expect(codeOf(await undoChange(undo))).toEqual([400, 'token_invalid']);
    const next = await post('/accounts', { email: person.email, password: PASSWORD, account_type: 'personal' });
    expect(next.status).toBe(201);
  });

  test('lets the owner of the first address win against a thief who changed it twice', async () => {
    const person = await newPerson(service);
    const second = newEmail();
    const third = newEmail();
    const first = await askForChange(person, second);
    await confirmChange(first.confirm);
    const again = await askForChange({ ...person, email: second }, third);
    await confirmChange(again.confirm);
    expect((await undoChange(first.undo)).body).toMatchObject({ account: { email: person.email } });
    expect(codeOf(await undoChange(again.undo))).toEqual([400, 'token_invalid']);
    expect(await signIn(person.email)).toBe(201);
  });
});

test('stores mailed tokens and addresses of waiting requests only encrypted or digested, and logs neither', async () => {
  const person = await newPerson(service);
  const token = await askForReset(person.email);
  await reset(token);
  expect(JSON.stringify(await service.database('mailed_tokens'))).not.toContain(token);
  expect(JSON.stringify(await service.database('outbox').select('payload'))).not.toContain(token);
  expect(service.logs()).not.toContain(token);
});
