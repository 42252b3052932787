import { newId } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from './support/start-gateway.ts';

/** Internal failures are a 503: never a 401 or 402, which blame the caller, and never free inference. */
let gateway: TestGateway;
let session: string;
let token: string;

beforeAll(async () => {
  gateway = await startGateway({ canFail: true, environment: { USAGE_QUEUE_RECORDS_MAX: '3' } });
  [session, token] = await Promise.all([
    gateway.tokens.consoleSession({ userId: newId('usr') }),
    gateway.tokens.accessToken(),
  ]);
});
afterAll(() => gateway.stop());
afterEach(async () => {
  gateway.databaseDoor?.open();
  gateway.billing.outage = undefined;
  await waitFor(async () => (await fetch(`${gateway.internalUrl}/readyz`)).ok);
});

const createKey = async (): Promise<string> => {
  const created = await fetch(`${gateway.url}/v1/gateway/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${session}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Test' }),
  });
  return JSON.parse(await created.text()).key;
};
const post = async (path: string, credential: string, body: object) => {
  const answer = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }], ...body }),
  });
  return { answer, body: JSON.parse(await answer.text()) };
};
const ask = (key: string) => post('/v1/chat/completions', key, { model: 'svc-chat' });
const askDelegated = () => post('/v1/integrations/inference/chat/completions', token, {});
const recordsOf = (ids: readonly (string | null)[]) =>
  gateway.database.knex('usage_records').whereIn('request_id', ids).where({ outcome: 'settled' });

describe('while the database is down', () => {
  test('returns 503 for a key that is not cached, until the database is back', async () => {
    const key = await createKey();
    gateway.databaseDoor?.shut();
    gateway.provider.resetCounts();
    const { answer, body } = await ask(key);
    expect([answer.status, body.error.code]).toEqual([503, 'service_unavailable']);
    expect(gateway.provider.counts().requests).toBe(0);
    gateway.databaseDoor?.open();
    await waitFor(async () => (await ask(key)).answer.status === 200);
  });

  test('serves as many requests as the queue can hold, and records them later', async () => {
    const key = await createKey();
    await ask(key);
    gateway.databaseDoor?.shut();
    gateway.provider.resetCounts();
    const answers = [];
    for (let count = 0; count < 8; count += 1) answers.push(await (count % 2 === 0 ? ask(key) : askDelegated()));
    const served = answers.filter(({ answer }) => answer.status === 200);
    expect(served.length).toBeGreaterThan(0);
    expect(new Set(answers.map(({ answer }) => answer.status))).toEqual(new Set([200, 503]));
    expect(gateway.provider.counts().billed.requests).toBe(served.length);
    gateway.databaseDoor?.open();
    const ids = served.map(({ answer }) => answer.headers.get('x-request-id'));
    await waitFor(async () => (await recordsOf(ids)).length === served.length);
  });

  test('returns 503 for the lists of keys and usage', async () => {
    gateway.databaseDoor?.shut();
    for (const path of ['/v1/gateway/keys', '/v1/gateway/usage']) {
      const answer = await fetch(`${gateway.url}${path}`, { headers: { authorization: `Bearer ${session}` } });
      expect(answer.status, await answer.text()).toBe(503);
    }
  });
});

describe('while billing is down', () => {
  test.each([0, 500, 401, 402])('returns 503 to keys and apps (billing: %i)', async (outage) => {
    const key = await createKey();
    gateway.provider.resetCounts();
    gateway.billing.outage = outage;
    for (const { answer } of [await ask(key), await askDelegated()]) expect(answer.status).toBe(503);
    expect(gateway.provider.counts().requests).toBe(0);
  });
});

describe('an answer that ends while database and billing are down, without a journal', () => {
  test.each([
    ['an app', false],
    ['an app', true],
    ['an API key', false],
    ['an API key', true],
  ])('is complete only when its record is written, for %s (stream: %s)', async (caller, stream) => {
    const isApp = caller === 'an app';
    const credential = isApp ? token : await createKey();
    const path = isApp ? '/v1/integrations/inference/chat/completions' : '/v1/chat/completions';
    const before = gateway.billing.admissions.length;
    let end: string | undefined;
    const answering = fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        messages: [{ role: 'user', content: 'Hi [[delay_ms=200]]' }],
        stream,
        ...(isApp ? {} : { model: 'svc-chat' }),
      }),
    }).then(async (answer) => {
      end = await answer.text();
      return answer;
    });
    await waitFor(() => gateway.billing.admissions.length > before);
    gateway.databaseDoor?.shut();
    gateway.billing.outage = 0;
    const requestId = gateway.billing.admissions[before]?.request_id ?? '';
    const count = (...words: string[]) =>
      gateway
        .logs()
        .split('\n')
        .filter((line) => words.every((word) => line.includes(word))).length;
    // Only apps have their outcomes reported to billing directly.
    if (isApp) await waitFor(() => count(requestId, 'could not report an outcome to billing directly') === 1);
    // Two more attempts are enough time for an answer that waits for nothing else.
    const failures = count('usage records were not written');
    await waitFor(() => count('usage records were not written') > failures + 1);
    expect(end).toBeUndefined();
    gateway.databaseDoor?.open();
    expect((await answering).status).toBe(200);
    expect(end).toContain(stream ? '[DONE]' : 'usage');
    expect(await recordsOf([requestId])).toHaveLength(1);
  });
});

describe('while NATS is down', () => {
  test('records the requests it serves, publishes them later, and returns no 401', async () => {
    const key = await createKey();
    await gateway.nats.pause();
    const answers = [await ask(key), await askDelegated()];
    for (const { answer } of answers) expect([200, 503]).toContain(answer.status);
    await gateway.nats.start();
    const ids = answers
      .filter(({ answer }) => answer.status === 200)
      .map(({ answer }) => answer.headers.get('x-request-id'));
    await waitFor(async () => (await recordsOf(ids)).length === ids.length);
    await waitFor(async () => (await gateway.database.knex('outbox').whereNull('published_at').first()) === undefined);
  });
});
