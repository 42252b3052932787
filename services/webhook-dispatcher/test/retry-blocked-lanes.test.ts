import { serviceOperations } from '@svc/contracts';
import { createInternalClient } from '@svc/service-kit';
import { internalCredential, waitFor } from '@svc/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type Dispatcher,
  seedApps,
  seedLastAttempt,
  startDispatcher,
  startWorld,
  type World,
} from './support/dispatcher.ts';

let world: World;
let dispatcher: Dispatcher;

beforeAll(async () => {
  world = await startWorld();
  dispatcher = await startDispatcher(world);
});
afterAll(async () => {
  await dispatcher?.stop();
  await world?.stop();
});

const blockedApps = async (): Promise<string[]> =>
  await world.database.knex('lanes').whereNotNull('blocked_sequence').orderBy('owner_id').pluck('owner_id');

const retry = async (blockedSince: Date, host: string | null) => {
  const token = internalCredential('operator');
  const client = createInternalClient({ baseUrl: dispatcher.internalUrl, token, timeoutMs: 10_000 });
  const body = { blocked_since: blockedSince.toISOString(), host, after: null };
  const answer = await client.call(serviceOperations.retryBlockedLanes, { body }).finally(client.close);
  return answer.body;
};

test('retries the events that block apps since a moment, of one receiver only if asked, and leaves older blocks', async () => {
  world.receiver.otherwise = 500;
  const here = await seedApps(world, 3);
  const elsewhere = await seedApps(world, 1, world.receiver.url.replace('localhost', 'other.localhost'));
  const events = await Promise.all(here.map((ownerId) => seedLastAttempt(world, ownerId)));
  await Promise.all(elsewhere.map((ownerId) => seedLastAttempt(world, ownerId)));
  await waitFor(async () => (await blockedApps()).length === 4);
  const [old = ''] = here;
  const longAgo = new Date(Date.now() - 3_600_000);
  await world.database.knex('delivery_attempts').where({ owner_id: old }).update({ at: longAgo });
  world.receiver.otherwise = 200;
  const since = new Date(Date.now() - 600_000);
  expect(await retry(since, 'unknown.example')).toEqual({ data: [], after: null });
  const { data } = await retry(since, 'localhost');
  expect(data.map(({ event_id }) => event_id).toSorted()).toEqual(events.slice(1).toSorted());
  await waitFor(async () => (await blockedApps()).length === 2);
  expect(await blockedApps()).toEqual([old, ...elsewhere].toSorted());
  expect((await retry(longAgo, 'localhost')).data.map(({ owner_id }) => owner_id)).toEqual([old]);
});
