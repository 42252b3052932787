import { createHmac } from 'node:crypto';
import { newId } from '@svc/contracts';
import { internalCredential, waitFor } from '@svc/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  call,
  callAccount,
  type Dispatcher,
  newOwner,
  type Owner,
  publishFact,
  startDispatcher,
  startWorld,
  type World,
} from './support/dispatcher.ts';
import type { Received } from './support/receiver.ts';

let world: World;
let dispatcher: Dispatcher;
/** A second replica, with a separate cache. */
let replica: Dispatcher;
let owner: Owner;

beforeAll(async () => {
  world = await startWorld();
  // The first retry comes after an hour: only deliver-now can be faster.
  const env = { WEBHOOK_BACKOFF_BASE_MS: '3600000' };
  dispatcher = await startDispatcher(world, { env });
  replica = await startDispatcher(world, { env });
});
afterAll(async () => {
  await dispatcher?.stop();
  await replica?.stop();
  await world?.stop();
});
beforeEach(async () => {
  owner = await newOwner(world);
  world.receiver.next.length = 0;
  world.receiver.otherwise = 204;
});

const configure = async (): Promise<string> => {
  const answer = await call(dispatcher, owner, ['PUT', '', { url: world.receiver.url }]);
  return answer.body.signing_secret;
};
const queueTest = async (by = dispatcher): Promise<string> => (await call(by, owner, ['POST', '/test'])).body.event_id;
const get = async (path: string) => await call(dispatcher, owner, ['GET', path]);
const untilStatus = (eventId: string, status: string) =>
  waitFor(async () => (await get(`/events/${eventId}`)).body.status === status);
const untilAttempts = (eventId: string, count: number) =>
  waitFor(async () => (await get(`/events/${eventId}`)).body.attempts === count);
const received = (): Received[] =>
  world.receiver.received.filter(({ event }) => event.integration_id === owner.clientId);

/** Says which of two secrets signed a delivery, in both formats. */
const signers = (
  { headers, raw }: Pick<Received, 'headers' | 'raw'>,
  secrets: Readonly<Record<string, string>>,
): string[][] => {
  const own = String(headers['x-svc-signature']);
  const time = String(headers['webhook-timestamp']);
  const standard = String(headers['webhook-signature']).split(' ');
  const names = Object.keys(secrets);
  return [
    names.filter((name) => {
      const digest = createHmac('sha256', secrets[name] ?? '')
        .update(`${time}.${raw}`)
        .digest('hex');
      return own.split(',').includes(`v1=${digest}`);
    }),
    names.filter((name) => {
      const key = Buffer.from((secrets[name] ?? '').replace('whsec_', ''), 'base64');
      const input = `${headers['webhook-id']}.${time}.${raw}`;
      return standard.includes(`v1,${createHmac('sha256', key).update(input).digest('base64')}`);
    }),
  ];
};

describe('the webhook of an account', () => {
  const account = (...request: [string, string, unknown?]) => callAccount(dispatcher, owner, request);
  const configureAccount = () => account('PUT', '', { url: world.receiver.url });
  const listed = async () =>
    (await account('GET', '/events')).body.data.map(
      ({ event, status }: Record<string, string>) => `${event} ${status}`,
    );
  const deliveries = () => world.receiver.receivedByAccounts.filter(({ event }) => event.account_id === owner.userId);

  test('takes sessions of any account, and nothing else', async () => {
    const token = await world.tokens.consoleSession({ userId: owner.userId, accountType: 'personal' });
    expect((await callAccount(dispatcher, {}, ['GET', ''])).status).toBe(401);
    expect((await callAccount(dispatcher, { token }, ['GET', ''])).status).toBe(404);
    const answer = await callAccount(dispatcher, { token }, ['PUT', '', { url: 'https://127.0.0.1/' }]);
    expect(answer.body).toMatchObject({ detail: [{ loc: ['body', 'url'], type: 'value_error' }] });
    expect((await account('POST', '/test')).body.detail.code).toBe('webhook_not_configured');
    expect((await account('POST', '/rotate-secret', {})).body.detail.code).toBe('webhook_not_configured');
  });

  test('is configured, tested, rotated and deleted apart from that of an app, and continues its sequence', async () => {
    await configure();
    const { body } = await configureAccount();
    const { signing_secret, ...configuration } = body;
    expect(signing_secret).toMatch(/^whsec_/);
    expect(configuration).toMatchObject({
      account_id: owner.userId,
      url: world.receiver.url,
      generation: 1,
      state: 'ok',
    });
    expect((await account('GET', '')).body).toEqual(configuration);
    const tested = await account('POST', '/test');
    expect(tested.status).toBe(202);
    await waitFor(() => deliveries().length === 1);
    const [delivery] = deliveries();
    expect(delivery?.event).toEqual({
      api_version: '2026-10-01',
      event_id: tested.body.event_id,
      event: 'account.test',
      account_id: owner.userId,
      sequence: 1,
      created: expect.any(Number),
      data: {},
    });
    if (delivery === undefined) throw new Error('no delivery');
    expect(signers(delivery, { only: signing_secret })).toEqual([['only'], ['only']]);
    const detail = await account('GET', `/events/${tested.body.event_id}`);
    expect(detail.body).toMatchObject({ event: 'account.test', payload: delivery.raw.toString() });
    expect((await get(`/events/${tested.body.event_id}`)).status).toBe(404);
    expect((await account('POST', '/rotate-secret', {})).body.signing_secret).not.toBe(signing_secret);
    expect((await account('DELETE', '')).status).toBe(204);
    expect((await account('DELETE', '')).status).toBe(204);
    expect((await account('GET', '')).status).toBe(404);
    expect((await account('POST', '/test')).body.detail.code).toBe('webhook_not_configured');
    expect((await account('GET', '/events')).body.generation).toBeNull();
    await configureAccount();
    await account('POST', '/test');
    await waitFor(() => deliveries().some(({ event }) => event.sequence === 2));
  });

  test('gets the facts of its wallet, keys and plan, each once, and no other account does', async () => {
    await configureAccount();
    const common = { svc_user_id: owner.userId, amount_micros: 5_000_000, currency: 'EUR' };
    const key = { svc_user_id: owner.userId, key_id: newId('key'), name: 'Nightly' };
    const resets_at = '2026-12-01T00:00:00.000Z';
    const named = { client_id: null, key_id: null, plan_name: null } as const;
    const low = { ...common, ...named, subject: 'wallet', threshold_percent: null } as const;
    const limit = { ...key, spent_micros: 4, limit_micros: 5, resets_at };
    const id = crypto.randomUUID();
    const credited = { ...common, balance_micros: 7_000_000, source: 'automatic' } as const;
    const facts = [
      { subject: 'billing.wallet.credited.v1', id, data: credited },
      { subject: 'billing.wallet.credited.v1', data: { ...credited, svc_user_id: newId('usr') } },
      { subject: 'billing.auto_top_up.failed.v1', data: { ...common, reason: 'declined' } },
      { subject: 'billing.alert.raised.v1', data: { ...low, limit_micros: 9_000_000, resets_at: null } },
      {
        subject: 'billing.alert.raised.v1',
        data: { ...low, subject: 'weekly_cap', currency: null, limit_micros: 9_000_000, resets_at },
      },
      { subject: 'inference.key.created.v1', data: { ...key, prefix: 'svc_sk_0', created_at: resets_at } },
      { subject: 'inference.key.limit_reached.v1', data: limit },
    ] as const;
    for (const [index, fact] of facts.entries()) {
      await publishFact(world, { ...fact, aggregate: `test:${owner.userId}:${index}`, version: 1 });
    }
    // Without a message id, so that the broker does not deduplicate it.
    const { data } = await world.operator.manager.streams.getMessage('INFERENCE', {
      last_by_subj: 'inference.key.limit_reached.v1',
    });
    await world.operator.jetstream.publish('inference.key.limit_reached.v1', data);
    const ended = { status: 'canceled', ended_at: resets_at, revision: 2, current_period_end: resets_at } as const;
    await publishFact(world, {
      subject: 'billing.subscription.ended.v1',
      aggregate: `subscription:${owner.userId}`,
      version: 1,
      data: { svc_user_id: owner.userId, ...ended },
    });
    await waitFor(() => deliveries().length >= 6);
    await account('POST', '/test');
    await waitFor(async () => (await listed())[0] === 'account.test delivered');
    const sent = deliveries().map(({ event }) => event);
    expect(sent.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(Object.fromEntries(sent.map(({ event, data }) => [event, data]))).toEqual({
      'wallet.topped_up': { amount_micros: 5_000_000, balance_micros: 7_000_000, currency: 'EUR', source: 'automatic' },
      'wallet.top_up_failed': { amount_micros: 5_000_000, currency: 'EUR', reason: 'declined' },
      'wallet.low': { balance_micros: 5_000_000, below_micros: 9_000_000, currency: 'EUR' },
      'api_key.created': { key_id: key.key_id, name: 'Nightly', prefix: 'svc_sk_0' },
      'api_key.limit_reached': { key_id: key.key_id, name: 'Nightly', spent_micros: 4, limit_micros: 5, resets_at },
      'subscription.changed': { status: 'canceled', plan: null, current_period_end: resets_at, revision: 2 },
      'account.test': {},
    });
  });

  test('is exported with those of the apps, without secrets, and ends with the account', async () => {
    await configure();
    await configureAccount();
    const exportUrl = `${dispatcher.internalUrl}/internal/webhook-dispatcher/personal-data/${owner.userId}`;
    const headers = { authorization: `Bearer ${internalCredential('auth')}` };
    const exported = async () => JSON.parse(await (await fetch(exportUrl, { headers })).text());
    const webhook = { url: world.receiver.url, generation: 1, created_at: expect.any(String) };
    expect((await exported()).webhooks).toEqual([
      { client_id: owner.clientId, ...webhook },
      { client_id: null, ...webhook },
    ]);
    await publishFact(world, {
      subject: 'auth.account.erased.v1',
      aggregate: `account_deletion:${owner.userId}`,
      version: 1,
      data: { svc_user_id: owner.userId },
    });
    await waitFor(async () => (await account('GET', '')).status === 404);
    expect((await get('')).status).toBe(200);
  });
});

describe('rotate-secret', () => {
  test('returns 403 if the person authenticated too long ago', async () => {
    const claims = { auth_time: Math.floor(Date.now() / 1000) - 901 };
    const token = await world.tokens.consoleSession({ userId: owner.userId, accountType: 'business', claims });
    const answer = await call(dispatcher, { clientId: owner.clientId, token }, ['POST', '/rotate-secret', {}]);
    expect(answer).toMatchObject({ status: 403, body: { detail: { code: 'reauthentication_required' } } });
  });

  test('returns 409 without a webhook, and 422 for an overlap beyond seven days', async () => {
    const unconfigured = await call(dispatcher, owner, ['POST', '/rotate-secret', {}]);
    expect(unconfigured).toMatchObject({ status: 409, body: { detail: { code: 'webhook_not_configured' } } });
    const long = await call(dispatcher, owner, ['POST', '/rotate-secret', { overlap_seconds: 604_801 }]);
    expect(long).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'overlap_seconds'] }] } });
  });

  test('signs with both secrets during the overlap on every replica, and keeps generation and events', async () => {
    const old = await configure();
    world.receiver.otherwise = 500;
    const waiting = await queueTest();
    await untilAttempts(waiting, 1);
    const before = Date.now();
    const rotated = await call(dispatcher, owner, ['POST', '/rotate-secret', undefined]);
    expect(rotated).toMatchObject({ status: 200, body: { signing_secret: expect.stringMatching(/^whsec_/) } });
    const overlapMs = Date.parse(rotated.body.previous_expires_at) - before;
    expect(Math.round(overlapMs / 3_600_000)).toBe(24);
    expect((await get('')).body).toMatchObject({ generation: 1 });
    expect((await get(`/events/${waiting}`)).body).toMatchObject({ status: 'queued', generation: 1 });
    world.receiver.otherwise = 204;
    await call(dispatcher, owner, ['POST', `/events/${waiting}/deliver-now`]);
    await untilStatus(waiting, 'delivered');
    for (const by of [dispatcher, replica]) await untilStatus(await queueTest(by), 'delivered');
    const secrets = { old, new: rotated.body.signing_secret };
    const after = received().slice(1);
    expect(after.map((delivery) => signers(delivery, secrets))).toEqual(
      after.map(() => [
        ['old', 'new'],
        ['old', 'new'],
      ]),
    );
  });

  test('signs with the new secret alone when the overlap is 0, also on a replica that had cached the old one', async () => {
    const old = await configure();
    for (const by of [dispatcher, replica]) await untilStatus(await queueTest(by), 'delivered');
    const { body } = await call(dispatcher, owner, ['POST', '/rotate-secret', { overlap_seconds: 0 }]);
    for (const by of [replica, dispatcher]) await untilStatus(await queueTest(by), 'delivered');
    const after = received().slice(2);
    const secrets = { old, new: body.signing_secret };
    expect(after.map((delivery) => signers(delivery, secrets))).toEqual(after.map(() => [['new'], ['new']]));
  });
});

describe('deliver-now', () => {
  test('delivers a queued event at once whose next attempt is an hour away', async () => {
    await configure();
    world.receiver.next.push(500);
    const eventId = await queueTest();
    await untilAttempts(eventId, 1);
    const answer = await call(dispatcher, owner, ['POST', `/events/${eventId}/deliver-now`]);
    expect(answer).toMatchObject({ status: 202, body: { event_id: eventId } });
    await untilStatus(eventId, 'delivered');
    expect((await get(`/events/${eventId}`)).body.attempts).toBe(2);
  });

  test('returns 409 for a delivered event, and for a queued one behind a failed one', async () => {
    await configure();
    const done = await queueTest();
    await untilStatus(done, 'delivered');
    world.receiver.otherwise = 500;
    const failed = await queueTest();
    await untilAttempts(failed, 1);
    await world.database.knex('events').where({ event_id: failed }).update({ attempts_in_round: 7, attempts: 7 });
    await call(dispatcher, owner, ['POST', `/events/${failed}/deliver-now`]);
    await untilStatus(failed, 'failed');
    const blocked = await queueTest();
    for (const eventId of [done, failed, blocked]) {
      const answer = await call(dispatcher, owner, ['POST', `/events/${eventId}/deliver-now`]);
      expect(answer).toMatchObject({ status: 409, body: { detail: { code: 'event_not_queued' } } });
    }
  });
});

describe('the event list and detail', () => {
  test('filters by status, event and sequence', async () => {
    await configure();
    const ids = [await queueTest(), await queueTest(), await queueTest()];
    for (const eventId of ids) await untilStatus(eventId, 'delivered');
    world.receiver.otherwise = 500;
    const queued = await queueTest();
    await untilAttempts(queued, 1);
    const sequences = async (query: string) =>
      (await get(`/events?${query}`)).body.data.map(({ sequence }: { sequence: number }) => sequence);
    expect(await sequences('status=delivered')).toEqual([3, 2, 1]);
    expect(await sequences('status=queued')).toEqual([4]);
    expect(await sequences('event=integration.test&after_sequence=1&before_sequence=4')).toEqual([3, 2]);
    expect(await sequences('event=subscription.updated')).toEqual([]);
    expect((await get('/events?status=lost')).status).toBe(422);
  });

  test('shows the body as sent and every attempt, oldest first', async () => {
    await configure();
    world.receiver.next.push(503);
    const eventId = await queueTest();
    await untilAttempts(eventId, 1);
    await call(dispatcher, owner, ['POST', `/events/${eventId}/deliver-now`]);
    await untilStatus(eventId, 'delivered');
    const { body } = await get(`/events/${eventId}`);
    expect(body.payload).toBe(received()[0]?.raw.toString());
    expect(body.attempt_log).toMatchObject([
      { status_code: 503, error: 'unexpected_status' },
      { status_code: 204, error: null },
    ]);
    expect(body.last_attempt).toEqual(body.attempt_log[1]);
    expect((await get(`/events/${newId('evt')}`)).status).toBe(404);
  });
});

describe("the receiver's own list", () => {
  const fetchOwn = async (query: string, authorization?: string) => {
    const response = await fetch(`${dispatcher.url}/v1/integrations/webhook/events?${query}`, {
      headers: authorization === undefined ? {} : { authorization },
    });
    // biome-ignore lint/suspicious/noExplicitAny: answers of several shapes.
    return { status: response.status, headers: response.headers, body: (await response.json()) as any };
  };
  const basic = (secret: string) => `Basic ${Buffer.from(`${owner.clientId}:${secret}`).toString('base64')}`;

  test('returns the app its events with their bodies, ascending, page by page', async () => {
    await configure();
    world.standIns.clientSecrets.set(owner.clientId, 'svc_cs_right');
    for (let count = 0; count < 3; count += 1) await untilStatus(await queueTest(), 'delivered');
    const first = await fetchOwn('limit=2', basic('svc_cs_right'));
    expect(first).toMatchObject({ status: 200, body: { has_more: true, data: [{ sequence: 1 }, { sequence: 2 }] } });
    const rest = await fetchOwn('after_sequence=2', basic('svc_cs_right'));
    expect(rest.body).toMatchObject({ has_more: false, data: [{ sequence: 3, status: 'delivered', generation: 1 }] });
    expect(rest.body.data[0].payload).toBe(received()[2]?.raw.toString());
  });

  test('refuses a missing or wrong secret with 401 and a Basic challenge', async () => {
    world.standIns.clientSecrets.set(owner.clientId, 'svc_cs_right');
    for (const authorization of [undefined, `Bearer ${owner.token}`, basic('svc_cs_wrong'), 'Basic %%%']) {
      const answer = await fetchOwn('', authorization);
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Basic realm="svc"']);
    }
  });
});
