import { newId } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  call,
  type Dispatcher,
  newOwner,
  type Owner,
  seedEvents,
  seedLastAttempt,
  startDispatcher,
  startWorld,
  type World,
} from './support/dispatcher.ts';

let world: World;
let dispatcher: Dispatcher;
let owner: Owner;

beforeAll(async () => {
  world = await startWorld();
  dispatcher = await startDispatcher(world, { env: { WEBHOOK_BACKOFF_BASE_MS: '1' } });
});
afterAll(async () => {
  await dispatcher?.stop();
  await world?.stop();
});
beforeEach(async () => {
  owner = await newOwner(world);
  world.receiver.received.length = 0;
  world.receiver.next.length = 0;
  world.receiver.otherwise = 204;
});

const configure = () => call(dispatcher, owner, ['PUT', '', { url: world.receiver.url }]);
const queueTest = async (): Promise<string> => (await call(dispatcher, owner, ['POST', '/test'])).body.event_id;
const list = async (query = '') => (await call(dispatcher, owner, ['GET', `/events${query}`])).body;
/** Returns the deliveries to this test's app, without late ones of the test before. */
const received = () => world.receiver.received.filter(({ event }) => event.integration_id === owner.clientId);
const recover = (eventId: string, action: string) =>
  call(dispatcher, owner, ['POST', `/events/${eventId}/recover`, { action }]);
const statuses = async () => {
  const { data } = await list();
  return Object.fromEntries(
    data.map((record: { sequence: number; status: string }) => [record.sequence, record.status]),
  );
};
/** Eight attempts take 5.5 s with the shortest first step. */
const WAIT = { timeoutMs: 20_000 };
const untilStatus = (sequence: number, status: string) =>
  waitFor(async () => (await statuses())[sequence] === status, WAIT);

const endpoints: [string, string, unknown?][] = [
  ['PUT', '', { url: 'https://hooks.example.com/hook' }],
  ['GET', ''],
  ['POST', '/test'],
  ['GET', '/events'],
  ['GET', `/events/${newId('evt')}`],
  ['POST', `/events/${newId('evt')}/deliver-now`],
  ['POST', '/rotate-secret', {}],
  ['POST', `/events/${newId('evt')}/recover`, { action: 'retry' }],
];

describe('refuses', () => {
  test.each(endpoints)('a request without a session with 401: %s %s', async (...request) => {
    expect((await call(dispatcher, { clientId: owner.clientId }, request)).status).toBe(401);
  });

  test.each(endpoints)('a personal account with 403: %s %s', async (...request) => {
    const token = await world.tokens.consoleSession({ userId: owner.userId, accountType: 'personal' });
    const answer = await call(dispatcher, { clientId: owner.clientId, token }, request);
    expect(answer).toMatchObject({ status: 403, body: { detail: { code: 'business_account_required' } } });
  });

  test.each(endpoints)('another business with 404, as for an unknown app: %s %s', async (...request) => {
    await configure();
    const stranger = await newOwner(world);
    const answer = await call(dispatcher, { clientId: owner.clientId, token: stranger.token }, request);
    expect(answer).toMatchObject({ status: 404, body: { detail: { code: 'not_found' } } });
    const unknown = await call(dispatcher, { clientId: newId('app'), token: stranger.token }, request);
    expect(unknown.body).toEqual(answer.body);
  });

  test.each(endpoints)('any request with 503 while auth is away: %s %s', async (...request) => {
    world.standIns.isDown = true;
    const answer = await call(dispatcher, owner, request).finally(() => {
      world.standIns.isDown = false;
    });
    expect(answer).toMatchObject({ status: 503, body: { detail: { code: 'service_unavailable' } } });
  });
});

describe('invalid requests', () => {
  test.each([
    [{}, 'missing'],
    [{ url: '' }, 'string_too_short'],
    [{ url: `https://hooks.example.com/${'a'.repeat(2048)}` }, 'string_too_long'],
    [{ url: 7 }, 'string_type'],
    [{ url: 'http://hooks.example.com/' }, 'value_error'],
    [{ url: 'https://127.0.0.1/' }, 'value_error'],
    [{ url: 'https://localhost:9/' }, 'value_error'],
  ])('a configuration with %j gets 422 %s', async (body, type) => {
    const answer = await call(dispatcher, owner, ['PUT', '', body]);
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'url'], type }] } });
  });

  test('a configuration with unknown properties is refused', async () => {
    const answer = await call(dispatcher, owner, ['PUT', '', { url: 'https://hooks.example.com/', secret: 'x' }]);
    expect(answer.body.detail).toMatchObject([{ loc: ['body', 'secret'], type: 'extra_forbidden' }]);
  });

  test.each(['0', '101', 'x'])('a list with the limit %s is refused', async (limit) => {
    const answer = await call(dispatcher, owner, ['GET', `/events?limit=${limit}`]);
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['query', 'limit'] }] } });
  });

  test('a list after an event of another app is refused', async () => {
    const answer = await call(dispatcher, owner, ['GET', `/events?after=${newId('evt')}`]);
    expect(answer.body.detail).toMatchObject([{ loc: ['query', 'after'], type: 'value_error' }]);
  });

  test('an unknown recovery action is refused', async () => {
    expect((await recover(newId('evt'), 'drop')).body.detail).toMatchObject([{ loc: ['body', 'action'] }]);
  });
});

describe('without a configuration', () => {
  test('reading gets 404, a test 409, and the list is empty and names no generation', async () => {
    expect((await call(dispatcher, owner, ['GET', ''])).status).toBe(404);
    const tested = await call(dispatcher, owner, ['POST', '/test']);
    expect(tested).toMatchObject({ status: 409, body: { detail: { code: 'webhook_not_configured' } } });
    expect(await list()).toEqual({ data: [], has_more: false, generation: null });
  });
});

describe('a failed event', () => {
  /** Queues an event with one attempt left, and lets it fail. */
  const fail = async (): Promise<string> => {
    await configure();
    world.receiver.otherwise = 500;
    const eventId = await seedLastAttempt(world, owner.clientId);
    await untilStatus(1, 'failed');
    return eventId;
  };

  test('has eight attempts and blocks the later ones', async () => {
    await configure();
    world.receiver.otherwise = 500;
    const eventId = await queueTest();
    await untilStatus(1, 'failed');
    await queueTest();
    const state = (await call(dispatcher, owner, ['GET', ''])).body;
    expect(state).toMatchObject({ state: 'blocked', blocked_by_event_id: eventId });
    const metrics = await (await fetch(`${dispatcher.internalUrl}/metrics`)).text();
    expect(metrics).toMatch(/^webhook_blocked_lanes\{.*\} 1$/m);
    expect(metrics).toMatch(/^webhook_attempts_total\{outcome="failed".*\} \d+$/m);
    expect(metrics).toMatch(/^webhook_oldest_due_seconds\{.*\} [\d.e-]+$/m);
    world.receiver.otherwise = 204;
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(received().length).toBe(8);
    const { data } = await list();
    expect(data).toMatchObject([
      { sequence: 2, status: 'queued', attempts: 0, next_attempt_at: null },
      { sequence: 1, status: 'failed', attempts: 8, next_attempt_at: null, delivered_at: null },
    ]);
    expect(data[1].last_attempt).toMatchObject({ status_code: 500, error: 'unexpected_status' });
  });

  test('gets eight more attempts with the same body if it is retried', async () => {
    const eventId = await fail();
    expect(await recover(eventId, 'retry')).toMatchObject({
      status: 200,
      body: { event_id: eventId, status: 'queued' },
    });
    await waitFor(() => received().length === 9, WAIT);
    await untilStatus(1, 'failed');
    world.receiver.otherwise = 204;
    await recover(eventId, 'retry');
    await untilStatus(1, 'delivered');
    expect(new Set(received().map(({ raw }) => raw.toString())).size).toBe(1);
    expect((await call(dispatcher, owner, ['GET', ''])).body.state).toBe('ok');
  });

  test('leaves a gap if it is skipped, and the later ones are delivered', async () => {
    const eventId = await fail();
    await queueTest();
    world.receiver.otherwise = 204;
    expect(await recover(eventId, 'skip')).toMatchObject({ status: 200, body: { status: 'skipped' } });
    await untilStatus(2, 'delivered');
    expect(await statuses()).toEqual({ 1: 'skipped', 2: 'delivered' });
  });

  test('lets 1,000 events wait, and refuses tests until some are done', async () => {
    const eventId = await fail();
    await seedEvents(world, Array<string>(998).fill(owner.clientId));
    const answers = [
      await call(dispatcher, owner, ['POST', '/test']),
      await call(dispatcher, owner, ['POST', '/test']),
    ];
    expect(answers).toMatchObject([{ status: 202 }, { status: 429, body: { detail: { code: 'webhook_queue_full' } } }]);
    world.receiver.otherwise = 204;
    await recover(eventId, 'skip');
    expect(await call(dispatcher, owner, ['POST', '/test'])).toMatchObject({ status: 202 });
  });

  test('is cancelled by a new generation, which continues the sequence', async () => {
    await fail();
    await queueTest();
    world.receiver.otherwise = 204;
    expect((await configure()).body).toMatchObject({ generation: 2, state: 'ok', blocked_by_event_id: null });
    await queueTest();
    await untilStatus(3, 'delivered');
    expect(await statuses()).toEqual({ 1: 'cancelled', 2: 'cancelled', 3: 'delivered' });
  });

  test('is the only kind that can be recovered', async () => {
    await configure();
    const eventId = await queueTest();
    await untilStatus(1, 'delivered');
    for (const action of ['retry', 'skip']) {
      expect(await recover(eventId, action)).toMatchObject({
        status: 409,
        body: { detail: { code: 'event_not_failed' } },
      });
    }
    expect((await recover(newId('evt'), 'skip')).status).toBe(404);
  });
});

describe('the list', () => {
  test('names the generation of a webhook that has sent nothing yet', async () => {
    await configure();
    await configure();
    expect(await list()).toEqual({ data: [], has_more: false, generation: 2 });
  });

  test('returns events page by page, newest first', async () => {
    await configure();
    for (let index = 0; index < 5; index += 1) await queueTest();
    const seen: number[] = [];
    for (let after = ''; ; ) {
      const page = await list(`?limit=2${after}`);
      seen.push(...page.data.map((record: { sequence: number }) => record.sequence));
      if (!page.has_more) break;
      after = `&after=${page.data.at(-1).event_id}`;
    }
    expect(seen).toEqual([5, 4, 3, 2, 1]);
  });

  test('shows an attempt in flight as delivering', async () => {
    await configure();
    let answer = (): void => undefined;
    world.receiver.otherwise = (response) => {
      answer = () => response.writeHead(200).end();
    };
    await queueTest();
    await waitFor(() => received().length === 1);
    expect((await list()).data).toMatchObject([{ status: 'delivering', attempts: 0, next_attempt_at: null }]);
    answer();
    await untilStatus(1, 'delivered');
  });
});

describe('a new generation during an attempt', () => {
  test.each([200, 500])('is not followed by another attempt at the old event (answer %i)', async (status) => {
    await configure();
    let answer = (): void => undefined;
    world.receiver.otherwise = (response) => {
      answer = () => response.writeHead(status).end();
    };
    const eventId = await queueTest();
    await waitFor(() => received().length === 1);
    await configure();
    world.receiver.otherwise = 204;
    answer();
    await queueTest();
    await untilStatus(2, 'delivered');
    expect(await statuses()).toEqual({ 1: 'cancelled', 2: 'delivered' });
    expect(received().filter(({ event }) => event.event_id === eventId).length).toBe(1);
  });
});
