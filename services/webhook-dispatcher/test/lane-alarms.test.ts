import type { WebhookNotice } from '@svc/contracts';
import { createInternalClient, type InternalClient } from '@svc/service-kit';
import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createAuthClient } from '../src/auth-client.ts';
import { mailLaneAlarms } from '../src/events/index.ts';
import {
  call,
  type Dispatcher,
  newOwner,
  type Owner,
  startDispatcher,
  startWorld,
  type World,
} from './support/dispatcher.ts';
import { SERVICE_TOKEN } from './support/stand-ins.ts';

const ATTEMPTS_MAX = 8;

let world: World;
let dispatcher: Dispatcher;
let owner: Owner;
let client: InternalClient;
/** Mails that the owner got, by their change and event. */
const mails = (): string[][] =>
  (world.standIns.notices.get(owner.clientId) ?? []).map(({ change, event_id }) => [change, event_id]);

beforeAll(async () => {
  world = await startWorld();
  client = createInternalClient({ baseUrl: world.standIns.url, token: SERVICE_TOKEN, timeoutMs: 2_000 });
  // Attempts are made by deliver-now alone.
  dispatcher = await startDispatcher(world, { env: { WEBHOOK_BACKOFF_BASE_MS: '3600000' } });
});
afterAll(async () => {
  await client?.close();
  await dispatcher?.stop();
  await world?.stop();
});
beforeEach(async () => {
  owner = await newOwner(world);
  world.receiver.otherwise = 500;
  await call(dispatcher, owner, ['PUT', '', { url: world.receiver.url }]);
});

/** Runs the work of two replicas at once. */
const mailOwners = async (): Promise<void> => {
  const { database } = dispatcher;
  const { mailOwner } = createAuthClient(client);
  const run = () => mailLaneAlarms({ database, mailOwner }, new AbortController().signal);
  await Promise.all([run(), run()]);
};
const queueTest = async (): Promise<string> => (await call(dispatcher, owner, ['POST', '/test'])).body.event_id;
const recordOf = async (eventId: string) => (await call(dispatcher, owner, ['GET', `/events/${eventId}`])).body;
const untilStatus = (eventId: string, status: string) =>
  waitFor(async () => (await recordOf(eventId)).status === status);
const recover = (eventId: string, action: 'retry' | 'skip') =>
  call(dispatcher, owner, ['POST', `/events/${eventId}/recover`, { action }]);
/** Makes all attempts of an event fail. */
const block = async (eventId: string): Promise<void> => {
  const { attempts } = await recordOf(eventId);
  const roundStart = attempts - (attempts % ATTEMPTS_MAX);
  for (let attempt = 1; attempt < ATTEMPTS_MAX; attempt += 1) {
    await waitFor(async () => (await recordOf(eventId)).attempts === roundStart + attempt);
    await call(dispatcher, owner, ['POST', `/events/${eventId}/deliver-now`]);
  }
  await untilStatus(eventId, 'failed');
};

test('mails the owner once when the webhook blocks, and once when it delivers again', async () => {
  const eventId = await queueTest();
  await mailOwners();
  expect(mails()).toEqual([]);
  await block(eventId);
  for (let time = 0; time < 2; time += 1) await mailOwners();
  expect(mails()).toEqual([['blocked', eventId]]);
  const { last_attempt } = await recordOf(eventId);
  expect(world.standIns.notices.get(owner.clientId)).toMatchObject([
    { event: 'integration.test', last_attempt_at: last_attempt.at },
  ]);

  world.receiver.otherwise = 204;
  await recover(eventId, 'retry');
  await untilStatus(eventId, 'delivered');
  for (let time = 0; time < 2; time += 1) await mailOwners();
  expect(mails()).toEqual([
    ['blocked', eventId],
    ['recovered', eventId],
  ]);
});

test('mails the owner again if a retried event blocks once more', async () => {
  const eventId = await queueTest();
  await block(eventId);
  await mailOwners();
  await recover(eventId, 'retry');
  await block(eventId);
  await mailOwners();
  expect(mails()).toEqual([
    ['blocked', eventId],
    ['blocked', eventId],
  ]);
});

test('mails a recovery after a skip once a later event is delivered', async () => {
  const eventId = await queueTest();
  await block(eventId);
  await mailOwners();
  await recover(eventId, 'skip');
  await mailOwners();
  expect(mails()).toHaveLength(1);
  world.receiver.otherwise = 204;
  await untilStatus(await queueTest(), 'delivered');
  await mailOwners();
  expect(mails()).toEqual([
    ['blocked', eventId],
    ['recovered', eventId],
  ]);
});

test('loses no mail while auth is down, and mails nothing about a block that is over by then', async () => {
  const first = await queueTest();
  await block(first);
  world.standIns.isDown = true;
  try {
    await expect(mailOwners()).rejects.toThrow();
  } finally {
    world.standIns.isDown = false;
  }
  await mailOwners();
  expect(mails()).toEqual([['blocked', first]]);

  await recover(first, 'skip');
  const second = await queueTest();
  await block(second);
  world.receiver.otherwise = 204;
  await recover(second, 'retry');
  await untilStatus(second, 'delivered');
  await mailOwners();
  expect(mails().slice(1)).toEqual([['recovered', first]]);
});

test('mails the other owners although one mail fails, and tries that one again', async () => {
  const owners = [owner, await newOwner(world)].toSorted((one, other) => (one.clientId < other.clientId ? -1 : 1));
  const [first = owner, second = owner] = owners;
  world.standIns.unmailed.add(first.clientId);
  for (const each of owners) {
    owner = each;
    await call(dispatcher, owner, ['PUT', '', { url: world.receiver.url }]);
    await block(await queueTest());
  }
  const mailed = () => [first, second].map(({ clientId }) => world.standIns.notices.get(clientId)?.length ?? 0);
  // The running service may be mailing the first one at the same moment.
  await mailOwners().catch(() => undefined);
  await waitFor(() => mailed()[1] === 1);
  expect(mailed()).toEqual([0, 1]);
  world.standIns.unmailed.clear();
  await mailOwners();
  await waitFor(() => mailed()[0] === 1);
  expect(mailed()).toEqual([1, 1]);
});

test('holds no transaction while auth queues a mail, and keeps the alarm of a lane that recovers meanwhile', async () => {
  const eventId = await queueTest();
  await block(eventId);
  const { database } = dispatcher;
  const asked = Promise.withResolvers<void>();
  const queued = Promise.withResolvers<void>();
  const mailed: string[] = [];
  const mailOwner = async (clientId: string, { change }: WebhookNotice) => {
    if (clientId !== owner.clientId) return;
    mailed.push(change);
    asked.resolve();
    await queued.promise;
  };
  const run = () => mailLaneAlarms({ database, mailOwner }, new AbortController().signal);
  // The running service may have claimed the alarm first.
  await database('lane_alarms').where({ owner_id: owner.clientId }).update({ is_mailed: false, claimed_until: null });
  const running = run();
  await asked.promise;
  const idle = database('pg_stat_activity')
    .whereRaw('datname = current_database()')
    .where({ state: 'idle in transaction' });
  expect(await idle).toEqual([]);
  world.receiver.otherwise = 204;
  await recover(eventId, 'retry');
  await untilStatus(eventId, 'delivered');
  await run();
  expect(mailed).toEqual(['blocked']);
  queued.resolve();
  await running;
  await run();
  expect(mailed).toEqual(['blocked', 'recovered']);
});
