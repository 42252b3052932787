import { verify } from '@node-rs/argon2';
import { waitFor } from '@svc/testing';
import type { Knex } from 'knex';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createAttemptThrottle, digest } from '../src/throttling.ts';
import { type AuthService, newEmail, startAuthService } from './support/auth-service.ts';
import { call, textAt } from './support/http.ts';
import { claimsOf, newPerson, PASSWORD, type Person } from './support/partner.ts';

vi.mock('@node-rs/argon2', { spy: true });

let service: AuthService;
let person: Person;

beforeAll(async () => {
  service = await startAuthService();
  person = await newPerson(service);
});
afterAll(() => service.stop());

const signUp = (fields: object) => call(`${service.url}/v1/console/accounts`, { json: fields });
const signIn = (email: string, password: string = PASSWORD, source = '192.0.2.1') =>
  call(`${service.url}/v1/console/sessions`, { json: { email, password }, headers: { 'x-forwarded-for': source } });
/** Algorithm, version and costs of a hash in PHC string format, without its salt and digest. */
const parametersOf = (hash: string): string => hash.split('$').slice(0, 4).join('$');
const session = (token: string | undefined, method = 'GET') =>
  call(`${service.url}/v1/console/session`, { token, method });

describe('POST /v1/console/accounts', () => {
  test('success: returns the account with a normalized address, and publishes the fact', async () => {
    const email = newEmail();
    const answer = await signUp({ email: email.toUpperCase(), password: PASSWORD, account_type: 'personal' });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      account: {
        svc_user_id: expect.stringMatching(/^usr_/),
        email,
        account_type: 'personal',
        business_name: null,
        display_name: null,
        locale: 'it',
        has_second_factor: false,
        email_verified: false,
        created_at: expect.stringMatching(/Z$/),
        organization: null,
      },
    });
    const userId = textAt(answer, 'account', 'svc_user_id');
    expect(await service.outbox(`account:${userId}`)).toEqual([
      {
        subject: 'auth.account.created.v1',
        aggregate: `account:${userId}`,
        version: 1,
        payload: { svc_user_id: userId, account_type: 'personal' },
      },
    ]);
  });

  test('success: opens a business account with all fields', async () => {
    const fields = {
      email: newEmail(),
      account_type: 'business',
      business_name: 'Acme S.p.A.',
      display_name: 'Ada',
      locale: 'en',
    };
    const answer = await signUp({ ...fields, password: PASSWORD });
    expect(answer.body).toEqual({ account: expect.objectContaining(fields) });
  });

  test.each([
    ['no address', { email: undefined }, ['body', 'email'], 'missing'],
    ['no at sign', { email: 'nobody' }, ['body', 'email'], 'string_pattern_mismatch'],
    ['a short password', { password: 'eleven char' }, ['body', 'password'], 'string_too_short'],
    ['a long password', { password: 'x'.repeat(129) }, ['body', 'password'], 'string_too_long'],
    ['a common password', { password: 'Password1234' }, ['body', 'password'], 'value_error'],
    ['an invisible name', { display_name: '\u200B' }, ['body', 'display_name'], 'value_error'],
    ['a name on two lines', { display_name: 'Ada\nLovelace' }, ['body', 'display_name'], 'value_error'],
    ['an unknown type', { account_type: 'admin' }, ['body', 'account_type'], 'enum'],
    ['a business without its name', { account_type: 'business' }, ['body', 'business_name'], 'missing'],
    ['an unknown field', { role: 'admin' }, ['body', 'role'], 'extra_forbidden'],
    ['a number for a password', { password: 123456789012 }, ['body', 'password'], 'string_type'],
  ])('invalid: %s', async (_what, fields, loc, type) => {
    const valid = { email: newEmail(), password: PASSWORD, account_type: 'personal' };
    const answer = await signUp({ ...valid, ...fields });
    expect(answer.status).toBe(422);
    expect(answer.body).toEqual({ detail: expect.arrayContaining([expect.objectContaining({ loc, type })]) });
    if ('password' in fields) expect(answer.text).not.toContain(String(fields.password));
  });

  test('invalid: refuses the address as the password', async () => {
    const email = newEmail();
    const answer = await signUp({ email, password: email.toUpperCase(), account_type: 'personal' });
    expect(answer.status).toBe(422);
  });

  test('conflict: opens one account per address, in any spelling and under concurrency', async () => {
    const email = newEmail();
    const fields = { password: PASSWORD, account_type: 'personal' };
    const answers = await Promise.all(
      [email, email.toUpperCase(), ` ${email}`.trim(), email].map((written) => signUp({ ...fields, email: written })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({ detail: { code: 'email_taken' } });
  });
});

describe('POST /v1/console/sessions', () => {
  test('success: returns a token of 12 hours with our claims, and the account', async () => {
    const answer = await signIn(person.email.toUpperCase());
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      session_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 43_200,
      account: expect.objectContaining({ svc_user_id: person.userId, email: person.email }),
      device_token: expect.stringMatching(/^[\w-]{22}\.[\w-]{22}$/),
    });
    expect(claimsOf(textAt(answer, 'session_token'))).toMatchObject({
      iss: service.url,
      aud: `${service.url}/v1/console`,
      sub: person.userId,
      sid: expect.stringMatching(/^ses_/),
      account_type: 'personal',
    });
  });

  test('invalid: names the faulty fields', async () => {
    const answer = await call(`${service.url}/v1/console/sessions`, { json: { email: person.email } });
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ detail: [{ loc: ['body', 'password'], type: 'missing' }] });
  });

  test('unauthenticated: returns the same answer for a wrong password and an unknown address', async () => {
    const wrong = await signIn(person.email, 'not the password at all');
    const unknown = await signIn(newEmail(), 'not the password at all');
    expect([wrong.status, unknown.status]).toEqual([401, 401]);
    expect(wrong.text).toBe(unknown.text);
    expect(wrong.body).toMatchObject({ detail: { code: 'invalid_credentials' } });
    const names = (headers: Headers) => [...headers.keys()].sort();
    expect(names(wrong.headers)).toEqual(names(unknown.headers));
  });

  test('unauthenticated: an unknown address costs a hash like a known one', async () => {
    const known = await newPerson(service);
    vi.mocked(verify).mockClear();
    for (const email of [known.email, newEmail()]) await signIn(email, 'wrong password', '192.0.2.1');
    expect(verify).toHaveBeenCalledTimes(2);
    const [ofKnown = '', ofUnknown = ''] = vi.mocked(verify).mock.calls.map(([hash]) => hash.toString());
    expect(parametersOf(ofUnknown)).toBe(parametersOf(ofKnown));
  });

  test('signs in with the password in another Unicode form', async () => {
    const email = newEmail();
    const password = 'perché no, società';
    await signUp({ email, password: password.normalize('NFC'), account_type: 'personal' });
    expect((await signIn(email, password.normalize('NFD'))).status).toBe(201);
  });
});

/** Counts the connections that wait for an advisory lock of this database. */
const waitersFor = async (database: Knex): Promise<number> => {
  const { rows } = await database.raw(
    `SELECT count(*)::int AS waiters FROM pg_locks
     WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
  return rows[0].waiters;
};

describe('throttling', () => {
  test('locks an address for all passwords after 10 failures in 15 minutes, with Retry-After', async () => {
    const { email } = await newPerson(service);
    for (let failure = 0; failure < 10; failure += 1) {
      expect((await signIn(email, 'wrong password', `198.51.100.${failure}`)).status).toBe(401);
    }
    const closed = await signIn(email.toUpperCase(), PASSWORD, '198.51.100.200');
    expect(closed.status).toBe(429);
    expect(closed.body).toMatchObject({ detail: { code: 'too_many_attempts' } });
    const seconds = Number(closed.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(880);
    expect(seconds).toBeLessThanOrEqual(900);
    service.clock.advanceMs((seconds + 1) * 1000);
    expect((await signIn(email)).status).toBe(201);
  });

  test('locks an address without an account likewise', async () => {
    const email = newEmail();
    for (let failure = 0; failure < 10; failure += 1) await signIn(email, 'wrong password', `198.51.100.${failure}`);
    expect((await signIn(email)).status).toBe(429);
  });

  test('counts each of many parallel guesses', async () => {
    const { email } = await newPerson(service);
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) => signIn(email, 'wrong password', `203.0.113.${index}`)),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20);
  });

  test('keeps the connections of the process for others while attempts on one address wait for each other', async () => {
    const email = newEmail();
    const { email: other } = await newPerson(service);
    // As another replica does that counts an attempt.
    const holder = await service.database.transaction();
    const lock = digest(`address:${email}`).readBigInt64BE().toString();
    await holder.raw('SELECT pg_advisory_xact_lock(?::bigint)', [lock]);
    const waiting = Array.from({ length: 30 }, () => signIn(email, 'wrong password', '198.51.100.77'));
    try {
      await waitFor(async () => (await waitersFor(holder)) > 0);
      expect((await signIn(other, PASSWORD, '198.51.100.78')).status).toBe(201);
      expect(await waitersFor(holder)).toBe(1);
    } finally {
      await holder.rollback();
    }
    const statuses = (await Promise.all(waiting)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
  });

  test('does not count successes', async () => {
    const { email } = await newPerson(service);
    for (let round = 0; round < 12; round += 1) expect((await signIn(email)).status).toBe(201);
  });

  test('does not count parallel sign-ins with the right password', async () => {
    const { email } = await newPerson(service);
    const answers = await Promise.all(Array.from({ length: 30 }, () => signIn(email)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
  });

  test('refuses a right guess that was in progress when the limit was reached', async () => {
    const subject = { email: newEmail(), source: '203.0.113.1' };
    const throttle = createAttemptThrottle({
      transact: (run) => service.database.transaction(run),
      clock: service.clock,
    });
    const underWay = await throttle.begin(subject);
    for (let failure = 0; failure < 10; failure += 1) await (await throttle.begin(subject)).fail();
    await expect(underWay.succeed()).rejects.toMatchObject({ code: 'too_many_attempts' });
  });

  test('locks a source for every address after 200 failures; an IPv6 source is its /64', async () => {
    const now = service.clock();
    const attempt = await signIn(newEmail(), 'wrong password', '2001:db8:1:2::1');
    expect(attempt.status).toBe(401);
    const [row] = await service.database('sign_in_attempts').orderBy('id', 'desc').limit(1);
    await service.database('sign_in_attempts').insert(
      Array.from({ length: 199 }, (_, index) => ({
        address_digest: Buffer.from(`other ${index}`),
        source_digest: row.source_digest,
        attempted_at: now,
      })),
    );
    const { email } = await newPerson(service);
    expect((await signIn(email, PASSWORD, '2001:db8:1:2:ffff::9')).status).toBe(429);
    expect((await signIn(email, PASSWORD, '2001:db8:1:3::1')).status).toBe(201);
  });
});

describe('GET /v1/console/session', () => {
  test('success', async () => {
    const answer = await session(person.token);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      account: expect.objectContaining({ svc_user_id: person.userId }),
      expires_at: new Date(Number(claimsOf(person.token)['exp']) * 1000).toISOString(),
    });
  });

  test('unauthenticated: without a token, or with a malformed, foreign or expired one', async () => {
    const none = await session(undefined);
    expect([none.status, none.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(none.body).toMatchObject({ detail: { code: 'not_authenticated' } });
    const [header = '', payload = '', signature = ''] = person.token.split('.');
    const otherHeader = Buffer.from(JSON.stringify({ alg: 'none', typ: 'svc-session+jwt' })).toString('base64url');
    for (const token of [
      'nonsense',
      `${header}.${payload}.${signature.slice(0, -4)}AAAA`,
      `${otherHeader}.${payload}.`,
      `${header}.${Buffer.from('{}').toString('base64url')}.${signature}`,
    ]) {
      const answer = await session(token);
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer error="invalid_token"']);
      expect(answer.body).toMatchObject({ detail: { code: 'invalid_token' } });
    }
    const short = await newPerson(service);
    service.clock.advanceMs(12 * 3600 * 1000 + 1000);
    expect((await session(short.token)).status).toBe(401);
    person = await newPerson(service);
  });

  test('ignores a token in the query', async () => {
    const answer = await call(`${service.url}/v1/console/session?access_token=${person.token}`);
    expect(answer.body).toMatchObject({ detail: { code: 'not_authenticated' } });
  });
});

describe('DELETE /v1/console/session', () => {
  test('refuses the token at once, and publishes its revocation', async () => {
    const { token } = await newPerson(service);
    const answer = await session(token, 'DELETE');
    expect(answer.status).toBe(204);
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^svc_session=;.*Max-Age=0/),
      expect.stringMatching(/^svc_console=;.*Max-Age=0/),
      expect.stringMatching(/^svc_signed_in=;.*Max-Age=0/),
    ]);
    expect((await session(token)).status).toBe(401);
    expect((await session(token, 'DELETE')).status).toBe(401);
    const sid = claimsOf(token)['sid'];
    const left = (await service.outbox()).filter(({ subject }) => subject === `$KV.revocations.session.${sid}`);
    expect(left).toHaveLength(1);
  });
});

describe('POST /v1/console/session/resume', () => {
  const resume = (headers: Record<string, string>) =>
    call(`${service.url}/v1/console/session/resume`, { method: 'POST', headers });
  const consoleCookie = async (email: string) => {
    const header = (await signIn(email)).headers.getSetCookie().find((cookie) => cookie.startsWith('svc_console='));
    expect(header).toMatch(/; Path=\/v1\/console\/session; Max-Age=43200; HttpOnly; SameSite=Strict$/);
    return header?.split(';')[0] ?? '';
  };

  test('success: returns the same session with its remaining time', async () => {
    const cookie = await consoleCookie(person.email);
    service.clock.advanceMs(3600 * 1000);
    const answer = await resume({ cookie, origin: service.url });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ token_type: 'Bearer', account: { svc_user_id: person.userId } });
    const left = Number(/"expires_in":(\d+)/.exec(answer.text)?.[1]);
    expect(left).toBeGreaterThan(39_500);
    expect(left).toBeLessThanOrEqual(39_600);
    const token = textAt(answer, 'session_token');
    await session(token, 'DELETE');
    expect((await resume({ cookie, origin: service.url })).body).toMatchObject({ detail: { code: 'invalid_token' } });
  });

  test('unauthenticated: without the cookie, or from another origin', async () => {
    expect((await resume({ origin: service.url })).body).toMatchObject({ detail: { code: 'not_authenticated' } });
    const cookie = await consoleCookie(person.email);
    for (const origin of ['https://evil.example', 'null']) {
      expect((await resume({ cookie, origin })).status).toBe(401);
    }
  });
});
