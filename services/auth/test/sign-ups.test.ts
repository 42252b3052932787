import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, newEmail, startAuthService, startReplica } from './support/auth-service.ts';
import { newBrowser } from './support/browser.ts';
import { type Answer, call } from './support/http.ts';
import { challengeOf, newApp, newPerson, newVerifier, PASSWORD, STATE } from './support/partner.ts';

const signUp = (service: { url: string }, source: string, email = newEmail()): Promise<Answer> =>
  call(`${service.url}/v1/console/accounts`, {
    json: { email, password: PASSWORD, account_type: 'personal' },
    headers: { 'x-forwarded-for': source },
  });
const statusesOf = (answers: readonly Answer[], status: number): number =>
  answers.filter((answer) => answer.status === status).length;

describe('sign-ups of one source', () => {
  let service: AuthService;
  beforeAll(async () => {
    service = await startAuthService({ SIGN_UPS_PER_SOURCE_PER_HOUR: '5' });
  });
  afterAll(() => service.stop());

  test('return 429 with Retry-After beyond the limit, until an hour has passed', async () => {
    for (let count = 0; count < 5; count += 1) expect((await signUp(service, '192.0.2.1')).status).toBe(201);
    const refused = await signUp(service, '192.0.2.1');
    expect(refused.status).toBe(429);
    expect(refused.body).toMatchObject({ detail: { code: 'too_many_attempts' } });
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(3_500);
    expect(seconds).toBeLessThanOrEqual(3_600);
    expect((await signUp(service, '192.0.2.2')).status).toBe(201);
    service.clock.advanceMs((seconds + 1) * 1_000);
    expect((await signUp(service, '192.0.2.1')).status).toBe(201);
  });

  test('pass up to the limit when 30 arrive in parallel at two replicas', async () => {
    const replica = await startReplica(service);
    try {
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, index) => signUp(index % 2 === 0 ? service : replica, '198.51.100.1')),
      );
      expect([statusesOf(answers, 201), statusesOf(answers, 429)]).toEqual([5, 25]);
    } finally {
      await replica.stop();
    }
  });

  test('count together for the addresses of one IPv6 /64', async () => {
    const answers = [];
    for (let host = 1; host <= 6; host += 1) answers.push((await signUp(service, `2001:db8:5:6::${host}`)).status);
    expect(answers).toEqual([201, 201, 201, 201, 201, 429]);
  });

  test('do not count for a taken address', async () => {
    const email = newEmail();
    expect((await signUp(service, '203.0.113.7', email)).status).toBe(201);
    for (let count = 0; count < 6; count += 1) {
      expect((await signUp(service, '203.0.113.7', email)).status).toBe(409);
    }
    expect((await signUp(service, '203.0.113.7')).status).toBe(201);
  });

  test('are limited on the authorize page too', async () => {
    const app = await newApp(service, await newPerson(service, 'business'));
    const query = new URLSearchParams({
      client_id: app.clientId,
      redirect_uri: app.redirectUri,
      code_challenge: challengeOf(newVerifier()),
      state: STATE,
      locale: 'en',
      prompt: 'create',
    });
    const path = `/v1/integrations/oauth/authorize?${query}`;
    const outcomes: boolean[] = [];
    for (let count = 0; count < 6; count += 1) {
      const browser = newBrowser(service);
      await browser.submit(await browser.open(path), 'sign-up', { email: newEmail(), password: PASSWORD });
      outcomes.push(browser.cookies.has('svc_session'));
    }
    expect(outcomes).toContain(false);
  });
});

test('completes a sign-in while nearly all of 200 parallel sign-ups still wait', { timeout: 120_000 }, async () => {
  const service = await startAuthService();
  try {
    const person = await newPerson(service);
    let signedUp = 0;
    const crowd = Array.from({ length: 200 }, async (_, index) => {
      const answer = await signUp(service, `192.0.2.${index % 50}`);
      signedUp += 1;
      return answer;
    });
    await crowd[0];
    const before = signedUp;
    const answer = await call(`${service.url}/v1/console/sessions`, {
      json: { email: person.email, password: PASSWORD },
    });
    expect(answer.status).toBe(201);
    expect(signedUp - before).toBeLessThan(20);
    expect(statusesOf(await Promise.all(crowd), 201)).toBe(200);
  } finally {
    await service.stop();
  }
});

test('completes a sign-up while nearly all refused passwords of another source still wait', {
  timeout: 120_000,
}, async () => {
  const service = await startAuthService();
  try {
    // Long, of repeated letters that stand for digits: the most work for a password that is refused.
    const password = 'aB3$'.repeat(16);
    let refused = 0;
    const flood = Array.from({ length: 40 }, async () => {
      const { status } = await call(`${service.url}/v1/console/accounts`, {
        json: { email: newEmail(), password, account_type: 'personal' },
        headers: { 'x-forwarded-for': '192.0.2.1' },
      });
      refused += 1;
      return status;
    });
    await flood[0];
    const before = refused;
    expect((await signUp(service, '192.0.2.2')).status).toBe(201);
    expect(refused - before).toBeLessThan(20);
    expect(new Set(await Promise.all(flood))).toEqual(new Set([422]));
  } finally {
    await service.stop();
  }
});
