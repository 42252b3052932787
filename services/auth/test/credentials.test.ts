import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, newEmail, startAuthService } from './support/auth-service.ts';
import { type Answer, call, textAt } from './support/http.ts';
import { claimsOf, newPerson, PASSWORD, type Person } from './support/partner.ts';

let service: AuthService;

beforeAll(async () => {
  service = await startAuthService();
});
afterAll(() => service.stop());

const NEW_PASSWORD = 'another long enough passphrase';
const change = (what: 'password' | 'email', token: string | undefined, json: object): Promise<Answer> =>
  call(`${service.url}/v1/console/account/${what}`, { token, json });
const changePassword = (person: Person, over: object = {}) =>
  change('password', person.token, { current_password: PASSWORD, new_password: NEW_PASSWORD, ...over });
const signIn = (email: string, password = PASSWORD): Promise<Answer> =>
  call(`${service.url}/v1/console/sessions`, { json: { email, password } });
const statusOf = async (token: string): Promise<number> =>
  (await call(`${service.url}/v1/console/session`, { token })).status;
const codeOf = (answer: Answer) => [answer.status, textAt(answer, 'detail', 'code')];

describe.each(['password', 'email'] as const)('POST /v1/console/account/%s', (what) => {
  test('forbidden: changes nothing for a wrong current password, and throttles guesses as sign-in does', async () => {
    const person = await newPerson(service);
    const body = what === 'password' ? { new_password: NEW_PASSWORD } : { email: newEmail() };
    for (let guess = 0; guess < 10; guess += 1) {
      const answer = await change(what, person.token, { current_password: `wrong guess ${guess}`, ...body });
      expect(codeOf(answer)).toEqual([403, 'wrong_password']);
    }
    const throttled = await change(what, person.token, { current_password: PASSWORD, ...body });
    expect(codeOf(throttled)).toEqual([429, 'too_many_attempts']);
    expect(Number(throttled.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await signIn(person.email)).status).toBe(429);
    expect(await statusOf(person.token)).toBe(200);
  });

  test('unauthenticated: without a session', async () => {
    expect((await change(what, undefined, {})).status).toBe(401);
  });

  test('invalid: without the current password', async () => {
    const person = await newPerson(service);
    const body = what === 'password' ? { new_password: NEW_PASSWORD } : { email: newEmail() };
    const answer = await change(what, person.token, body);
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ detail: [{ loc: ['body', 'current_password'], type: 'missing' }] });
  });
});

describe('POST /v1/console/account/password', () => {
  test('success: ends every session with one revocation, and starts one that it does not cover', async () => {
    const person = await newPerson(service);
    const other = textAt(await signIn(person.email), 'session_token');
    const answer = await changePassword(person);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      token_type: 'Bearer',
      expires_in: 43_200,
      account: { svc_user_id: person.userId },
    });
    const fresh = textAt(answer, 'session_token');
    expect(await Promise.all([person.token, other, fresh].map(statusOf))).toEqual([401, 401, 200]);
    const [revocation] = await service.outbox(`revocation:account.${person.userId}`);
    expect(revocation?.subject).toBe(`$KV.revocations.account.${person.userId}`);
    const through = String(revocation?.payload['revoked_through']);
    for (const token of [person.token, other]) expect((claimsOf(token)['sid'] ?? '') <= through).toBe(true);
    expect((claimsOf(fresh)['sid'] ?? '') > through).toBe(true);
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^svc_session=/),
      expect.stringMatching(/^svc_console=/),
      expect.stringMatching(/^svc_signed_in=1;/),
      expect.stringMatching(/^svc_device=/),
    ]);
  });

  test('races: of many concurrent changes one wins, and only its session remains', async () => {
    const person = await newPerson(service);
    const answers = await Promise.all(Array.from({ length: 5 }, () => changePassword(person)));
    const tokens = answers.filter(({ status }) => status === 200).map((answer) => textAt(answer, 'session_token'));
    expect(tokens.length).toBeGreaterThan(0);
    const alive = (await Promise.all(tokens.map(statusOf))).filter((status) => status === 200);
    expect(alive).toHaveLength(1);
  });

  test('success: the new password signs in, but not the old one', async () => {
    const person = await newPerson(service);
    await changePassword(person);
    expect((await signIn(person.email)).status).toBe(401);
    expect((await signIn(person.email, NEW_PASSWORD)).status).toBe(201);
  });

  test('invalid: applies the rules of sign-up, and does not echo the password', async () => {
    const person = await newPerson(service);
    for (const password of ['Password1234', person.email, 'eleven char']) {
      const answer = await changePassword(person, { new_password: password });
      expect(answer.status).toBe(422);
      expect(answer.body).toMatchObject({ detail: [{ loc: ['body', 'new_password'] }] });
      expect(answer.text).not.toContain(password);
    }
  });

  test('a concurrent sign-in with the old password starts no session', async () => {
    const person = await newPerson(service);
    const [changed, ...signIns] = await Promise.all([
      changePassword(person),
      ...Array.from({ length: 4 }, () => signIn(person.email)),
    ]);
    expect(changed?.status).toBe(200);
    for (const answer of signIns) {
      expect([201, 401]).toContain(answer.status);
      if (answer.status === 201) expect(await statusOf(textAt(answer, 'session_token'))).toBe(401);
    }
  });

  test('an account without a password sets one within ten minutes of signing in', async () => {
    const person = await newPerson(service);
    await service.database('accounts').where({ id: person.userId }).update({ password_hash: null });
    service.clock.advanceMs(11 * 60_000);
    const late = await change('password', person.token, { new_password: NEW_PASSWORD });
    expect(codeOf(late)).toEqual([403, 'fresh_sign_in_required']);
    await service
      .database('console_sessions')
      .where({ user_id: person.userId })
      .update({ authenticated_at: service.clock() });
    expect((await change('password', person.token, { new_password: NEW_PASSWORD })).status).toBe(200);
    expect((await signIn(person.email, NEW_PASSWORD)).status).toBe(201);
  });
});

describe('POST /v1/console/session/reauthenticate', () => {
  const reauthenticate = (token: string | undefined, password: string): Promise<Answer> =>
    call(`${service.url}/v1/console/session/reauthenticate`, { token, json: { password } });

  test('success: returns a token of the same session with a new auth_time, which a resumed session keeps', async () => {
    const person = await newPerson(service);
    const before = claimsOf(person.token);
    service.clock.advanceMs(3_600_000);
    const answer = await reauthenticate(person.token, PASSWORD);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ token_type: 'Bearer', expires_in: expect.closeTo(43_200 - 3_600, -1) });
    const after = claimsOf(textAt(answer, 'session_token'));
    expect(after).toMatchObject({ sid: before['sid'], exp: before['exp'] });
    expect(Number(after['auth_time']) - Number(before['auth_time'])).toBeGreaterThanOrEqual(3_600);
    const cookie = `svc_console=${person.token}`;
    const resumed = await call(`${service.url}/v1/console/session/resume`, { method: 'POST', headers: { cookie } });
    expect(claimsOf(textAt(resumed, 'session_token'))['auth_time']).toBe(after['auth_time']);
  });

  test('forbidden: renews nothing for a wrong password, and guesses spend the session’s budget', async () => {
    const person = await newPerson(service);
    for (let guess = 0; guess < 10; guess += 1) {
      expect(codeOf(await reauthenticate(person.token, `guess ${guess}`))).toEqual([403, 'wrong_password']);
    }
    expect(codeOf(await reauthenticate(person.token, PASSWORD))).toEqual([429, 'too_many_attempts']);
  });

  test('forbidden: sessions started from another one share its budget', async () => {
    const person = await newPerson(service);
    const otherOf = async (token: string): Promise<string> => {
      const path = `${service.url}/v1/console/session/organization`;
      return textAt(await call(path, { token, json: { organization_id: null } }), 'session_token');
    };
    let token = person.token;
    for (let guess = 0; guess < 10; guess += 1) {
      expect(codeOf(await reauthenticate(token, `guess ${guess}`))).toEqual([403, 'wrong_password']);
      token = await otherOf(token);
    }
    expect(codeOf(await reauthenticate(token, PASSWORD))).toEqual([429, 'too_many_attempts']);
    expect(codeOf(await reauthenticate(await otherOf(person.token), PASSWORD))).toEqual([429, 'too_many_attempts']);
  });

  test('forbidden: requires a fresh sign-in for an account without a password', async () => {
    const person = await newPerson(service);
    await service.database('accounts').where({ id: person.userId }).update({ password_hash: null });
    expect(codeOf(await reauthenticate(person.token, PASSWORD))).toEqual([403, 'fresh_sign_in_required']);
  });

  test('unauthenticated: without a session, or with an ended one', async () => {
    const person = await newPerson(service);
    await call(`${service.url}/v1/console/session`, { method: 'DELETE', token: person.token });
    expect((await reauthenticate(undefined, PASSWORD)).status).toBe(401);
    expect((await reauthenticate(person.token, PASSWORD)).status).toBe(401);
  });
});
