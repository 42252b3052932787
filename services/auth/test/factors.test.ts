import { Secret, TOTP } from 'otpauth';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import { newBrowser } from './support/browser.ts';
import { type Answer, call, textAt } from './support/http.ts';
import {
  challengeOf,
  claimsOf,
  newApp,
  newPerson,
  newVerifier,
  PASSWORD,
  type Person,
  STATE,
} from './support/partner.ts';

let service: AuthService;

beforeAll(async () => {
  service = await startAuthService();
});
afterAll(() => service.stop());

const STEP_MS = 30_000;

interface Enrolled extends Person {
  readonly factorId: string;
  readonly secret: string;
  readonly recoveryCodes: string[];
}

const codeOf = (secret: string, steps = 0): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: service.clock().getTime() + steps * STEP_MS });
const errorOf = (answer: Answer) => [answer.status, textAt(answer, 'detail', 'code')];
const factorsPath = (path = '') => `${service.url}/v1/console/account/factors${path}`;
const signIn = (person: Person): Promise<Answer> =>
  call(`${service.url}/v1/console/sessions`, { json: { email: person.email, password: PASSWORD } });
const finish = (challenge: string, proof: object): Promise<Answer> =>
  call(`${service.url}/v1/console/sessions/second-factor`, { json: { challenge, ...proof } });
const challengeFor = async (person: Person): Promise<string> => textAt(await signIn(person), 'detail', 'challenge');
const listFactors = (person: Person): Promise<Answer> => call(factorsPath(), { token: person.token });
const codesIn = (answer: Answer): string[] =>
  Array.from({ length: 10 }, (_, index) => textAt(answer, 'recovery_codes', index));

const addTotp = (person: Person, json: object = {}): Promise<Answer> =>
  call(factorsPath('/totp'), { token: person.token, json });
const confirm = (person: Person, id: string, code: string): Promise<Answer> =>
  call(factorsPath(`/totp/${id}/confirm`), { token: person.token, json: { code } });

/** Signs a person up with a confirmed TOTP factor, whose code of this step is used up. */
const newEnrolled = async (): Promise<Enrolled> => {
  const person = await newPerson(service);
  const added = await addTotp(person);
  const factorId = textAt(added, 'id');
  const secret = textAt(added, 'secret');
  const confirmed = await confirm(person, factorId, codeOf(secret));
  return { ...person, factorId, secret, recoveryCodes: codesIn(confirmed) };
};

describe('enrolment', () => {
  test('takes effect with a confirmed code, is listed, stored encrypted, and mailed to the owner', async () => {
    const person = await newPerson(service);
    const added = await addTotp(person, { name: 'Phone' });
    expect(added.status).toBe(201);
    const id = textAt(added, 'id');
    const secret = textAt(added, 'secret');
    const url = new URL(textAt(added, 'otpauth_url'));
    expect(url.protocol + url.host + decodeURIComponent(url.pathname)).toBe(`otpauth:totp/svc:${person.email}`);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({ secret, issuer: 'svc', digits: '6', period: '30' });
    expect((await listFactors(person)).body).toEqual({ data: [], recovery_codes_left: 0 });
    expect((await signIn(person)).status).toBe(201);
    expect(errorOf(await confirm(person, id, codeOf(secret, 5)))).toEqual([403, 'wrong_code']);
    const confirmed = await confirm(person, id, ` ${codeOf(secret).replace(/(...)/, '$1 ')} `);
    expect(confirmed.status).toBe(200);
    expect(new Set(codesIn(confirmed)).size).toBe(10);
    expect((await listFactors(person)).body).toEqual({
      data: [{ id, type: 'totp', name: 'Phone', created_at: expect.any(String), last_used_at: null }],
      recovery_codes_left: 10,
    });
    const session = await call(`${service.url}/v1/console/session`, { token: person.token });
    expect(session.body).toMatchObject({ account: { has_second_factor: true } });
    const stored = JSON.stringify([await service.database('totp_factors'), await service.database('recovery_codes')]);
    for (const text of [secret, ...codesIn(confirmed)]) {
      expect(stored).not.toContain(text);
      expect(service.logs()).not.toContain(text);
    }
    const mails = await service.database('mails').where({ recipient: person.email, kind: 'factor_changed' });
    expect(mails).toHaveLength(1);
  });

  test('is refused for a factor that belongs to another account, is confirmed, or is an hour old', async () => {
    const person = await newEnrolled();
    const stranger = await newPerson(service);
    const added = await addTotp(stranger);
    const id = textAt(added, 'id');
    const secret = textAt(added, 'secret');
    expect(errorOf(await confirm(person, id, codeOf(secret)))).toEqual([404, 'not_found']);
    expect(errorOf(await confirm(person, person.factorId, codeOf(person.secret, 1)))).toEqual([404, 'not_found']);
    await service
      .database('totp_factors')
      .where({ id })
      .update({ created_at: new Date(service.clock().getTime() - 3_600_001) });
    expect(errorOf(await confirm(stranger, id, codeOf(secret)))).toEqual([404, 'not_found']);
  });

  test('requires a recent authentication, like every change of factors', async () => {
    const person = await newEnrolled();
    service.clock.advanceMs(901_000);
    const calls = [
      call(factorsPath('/totp'), { token: person.token, method: 'POST' }),
      confirm(person, person.factorId, '123456'),
      call(factorsPath(`/${person.factorId}`), { token: person.token, method: 'DELETE' }),
      call(factorsPath('/recovery-codes'), { token: person.token, method: 'POST' }),
    ];
    for (const answer of await Promise.all(calls)) expect(errorOf(answer)).toEqual([403, 'reauthentication_required']);
    expect((await listFactors(person)).status).toBe(200);
  });

  test('stops at ten factors', async () => {
    const person = await newEnrolled();
    const [row] = await service.database('totp_factors').where({ id: person.factorId });
    const copies = Array.from({ length: 9 }, (_, index) => ({ ...row, id: `${person.factorId}${index}` }));
    await service.database('totp_factors').insert(copies);
    expect(errorOf(await addTotp(person))).toEqual([409, 'factor_limit_reached']);
  });
});

describe('sign-in', () => {
  test('asks for the second factor only after the right password, and starts a session with a code', async () => {
    const person = await newEnrolled();
    const wrong = await call(`${service.url}/v1/console/sessions`, {
      json: { email: person.email, password: 'wrong' },
    });
    expect(errorOf(wrong)).toEqual([401, 'invalid_credentials']);
    const asked = await signIn(person);
    expect(asked.status).toBe(401);
    expect(asked.headers.getSetCookie()).toEqual([]);
    expect(asked.body).toMatchObject({ detail: { code: 'second_factor_required', factors: ['totp'] } });
    const challenge = textAt(asked, 'detail', 'challenge');
    const finished = await finish(challenge, { code: codeOf(person.secret, 1) });
    expect(finished.status).toBe(201);
    expect(finished.body).toMatchObject({ token_type: 'Bearer', account: { svc_user_id: person.userId } });
    expect(claimsOf(textAt(finished, 'session_token'))['auth_time']).toBeGreaterThan(0);
    expect(finished.headers.getSetCookie()).toHaveLength(4);
    expect(errorOf(await finish(challenge, { recovery_code: person.recoveryCodes[0] }))).toEqual([
      401,
      'challenge_invalid',
    ]);
    const factors = (await listFactors(person)).body;
    expect(factors).toMatchObject({ data: [{ last_used_at: expect.any(String) }], recovery_codes_left: 10 });
  });

  test('RFC 6238 §5.2: accepts a code once, also in parallel, and no code of an earlier step afterwards', async () => {
    const person = await newEnrolled();
    const confirmedAgain = await finish(await challengeFor(person), { code: codeOf(person.secret) });
    expect(errorOf(confirmedAgain)).toEqual([401, 'invalid_second_factor']);
    const code = codeOf(person.secret, 1);
    const challenges = await Promise.all(Array.from({ length: 5 }, () => challengeFor(person)));
    const answers = await Promise.all(challenges.map((challenge) => finish(challenge, { code })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 401, 401, 401, 401]);
    expect((await finish(await challengeFor(person), { code: codeOf(person.secret, 0) })).status).toBe(401);
  });

  test('RFC 6238 §5.2: accepts codes of one step before and after the current one, and none beyond', async () => {
    const person = await newEnrolled();
    service.clock.advanceMs(10 * STEP_MS);
    for (const steps of [-2, 2]) {
      expect((await finish(await challengeFor(person), { code: codeOf(person.secret, steps) })).status).toBe(401);
    }
    for (const steps of [-1, 0, 1]) {
      expect((await finish(await challengeFor(person), { code: codeOf(person.secret, steps) })).status).toBe(201);
    }
  });

  test('SP 800-63B-4 §3.1.2.2: a recovery code works once, however it is typed, and its use is mailed', async () => {
    const person = await newEnrolled();
    const [code = ''] = person.recoveryCodes;
    expect(code.replaceAll('-', '')).toMatch(/^[0-9a-hjkmnp-tv-z]{24}$/);
    const typed = code.toUpperCase().replaceAll('-', ' ').replaceAll('0', 'O').replaceAll('1', 'l');
    expect((await finish(await challengeFor(person), { recovery_code: typed })).status).toBe(201);
    expect((await finish(await challengeFor(person), { recovery_code: code })).status).toBe(401);
    expect((await listFactors(person)).body).toMatchObject({ recovery_codes_left: 9 });
    const mails = await service.database('mails').where({ recipient: person.email, kind: 'factor_changed' });
    expect(mails).toHaveLength(2);
  });

  test('counts wrong codes in the sign-in budget', async () => {
    const person = await newEnrolled();
    const challenge = await challengeFor(person);
    for (let guess = 0; guess < 10; guess += 1) {
      expect(errorOf(await finish(challenge, { code: '000000' }))).toEqual([401, 'invalid_second_factor']);
    }
    const refused = await finish(challenge, { code: codeOf(person.secret, 1) });
    expect(errorOf(refused)).toEqual([429, 'too_many_attempts']);
    expect(errorOf(await signIn(person))).toEqual([429, 'too_many_attempts']);
  });

  test('refuses a challenge that is unknown, older than ten minutes, or older than a change of password', async () => {
    const person = await newEnrolled();
    const proof = { recovery_code: person.recoveryCodes[0] };
    expect(errorOf(await finish('unknown', proof))).toEqual([401, 'challenge_invalid']);
    const late = await challengeFor(person);
    service.clock.advanceMs(600_001);
    expect(errorOf(await finish(late, proof))).toEqual([401, 'challenge_invalid']);
    const old = await challengeFor(person);
    const json = { current_password: PASSWORD, new_password: 'another long enough passphrase' };
    await call(`${service.url}/v1/console/account/password`, { token: person.token, json });
    expect(errorOf(await finish(old, proof))).toEqual([401, 'challenge_invalid']);
  });

  test('returns 422 without a proof, and for two at once', async () => {
    const none = await finish('challenge', {});
    expect(none.body).toMatchObject({ detail: [{ loc: ['body', 'code'], type: 'missing' }] });
    const two = await finish('challenge', { code: '123456', recovery_code: 'x' });
    expect(two.body).toMatchObject({ detail: [{ loc: ['body', 'recovery_code'], type: 'value_error' }] });
  });

  test('on the authorize page asks for the code in a form, without script', async () => {
    const person = await newEnrolled();
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
    const page = await browser.open(path);
    const step = await browser.submit(page, 'sign-in', { email: person.email, password: PASSWORD });
    expect(step.text).toContain('Two-step verification');
    const challenge = /name="challenge" value="([^"]+)"/.exec(step.text)?.[1] ?? '';
    const again = await browser.submit(step, 'second-factor', { challenge, code: '000 000' });
    expect(again.text).toContain('The code is wrong');
    const consent = await browser.submit(again, 'second-factor', { challenge, code: codeOf(person.secret, 1) });
    expect(consent.text).toContain(person.email);
    const other = newBrowser(service);
    const restart = await other.submit(
      await other.submit(await other.open(path), 'sign-in', {
        email: person.email,
        password: PASSWORD,
      }),
      'second-factor',
      { challenge, code: person.recoveryCodes[0] ?? '' },
    );
    expect(restart.text).toContain('That took too long');
  });
});

describe('reauthenticate with a code', () => {
  const reauthenticate = (person: Person, json: object): Promise<Answer> =>
    call(`${service.url}/v1/console/session/reauthenticate`, { token: person.token, json });

  test('renews the authentication once for each code', async () => {
    const person = await newEnrolled();
    service.clock.advanceMs(901_000);
    const code = codeOf(person.secret);
    const renewed = await reauthenticate(person, { code });
    expect(renewed.status).toBe(200);
    expect(errorOf(await reauthenticate(person, { code }))).toEqual([403, 'wrong_code']);
    const token = textAt(renewed, 'session_token');
    expect((await call(factorsPath('/recovery-codes'), { token, method: 'POST' })).status).toBe(201);
  });

  test('refuses a code of an account without a factor, and counts it', async () => {
    const person = await newPerson(service);
    for (let guess = 0; guess < 10; guess += 1) {
      expect(errorOf(await reauthenticate(person, { code: '123456' }))).toEqual([403, 'wrong_code']);
    }
    expect(errorOf(await reauthenticate(person, { password: PASSWORD }))).toEqual([429, 'too_many_attempts']);
  });
});

describe('removal', () => {
  test('of the last factor ends the recovery codes and the second step of sign-in', async () => {
    const person = await newEnrolled();
    const stranger = await newEnrolled();
    const path = factorsPath(`/${person.factorId}`);
    expect((await call(path, { token: stranger.token, method: 'DELETE' })).status).toBe(404);
    expect((await call(path, { token: person.token, method: 'DELETE' })).status).toBe(204);
    expect((await listFactors(person)).body).toEqual({ data: [], recovery_codes_left: 0 });
    expect((await signIn(person)).body).toMatchObject({ account: { has_second_factor: false } });
    const renewal = await call(factorsPath('/recovery-codes'), { token: person.token, method: 'POST' });
    expect(errorOf(renewal)).toEqual([409, 'second_factor_missing']);
  });

  test('of one of two factors keeps the other one and the codes; new codes void the earlier ones', async () => {
    const person = await newEnrolled();
    const second = await addTotp(person, { name: 'Tablet' });
    const codes = codesIn(await confirm(person, textAt(second, 'id'), codeOf(textAt(second, 'secret'))));
    const [old] = person.recoveryCodes;
    expect((await finish(await challengeFor(person), { recovery_code: old })).status).toBe(401);
    await call(factorsPath(`/${person.factorId}`), { token: person.token, method: 'DELETE' });
    expect((await listFactors(person)).body).toMatchObject({ data: [{ name: 'Tablet' }], recovery_codes_left: 10 });
    expect((await finish(await challengeFor(person), { recovery_code: codes[0] })).status).toBe(201);
  });
});
