import { idTimeAt, idTimeOf, newId } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  type Dispatcher,
  type Owner,
  publishFact,
  startDispatcher,
  startWorld,
  type World,
} from './support/dispatcher.ts';
import { createFacts, type Pair } from './support/facts.ts';

let world: World;
let dispatcher: Dispatcher;
let facts: ReturnType<typeof createFacts>;
let owner: Owner;
let pair: Pair;

beforeAll(async () => {
  world = await startWorld();
  dispatcher = await startDispatcher(world);
  facts = createFacts(world, dispatcher);
});
afterAll(async () => {
  expect(await world.database.knex('dead_letters')).toEqual([]);
  await dispatcher?.stop();
  await world?.stop();
});
beforeEach(async () => {
  owner = await facts.newConfiguredApp();
  pair = { userId: newId('usr'), clientId: owner.clientId };
});

test('a suspended app gets the end of each connection, in order and without a gap', async () => {
  const users = Array.from({ length: 400 }, () => newId('usr'));
  for (const user of users) await facts.connect({ ...pair, userId: user });
  await waitFor(async () => (await facts.sentTo(owner.clientId)).length === 400);
  await facts.suspend(owner.clientId, users.slice(0, 300));
  await facts.suspend(owner.clientId, users.slice(300));
  await waitFor(async () => (await facts.sentTo(owner.clientId)).length === 800);
  const rows = await world.database
    .knex('events')
    .where({ owner_id: owner.clientId })
    .orderBy('sequence')
    .select('body', 'sequence');
  expect(rows.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 800 }, (_, index) => index + 1));
  const ended = rows.slice(400).map(({ body }) => JSON.parse(body.toString()).user.svc_user_id);
  expect(ended).toEqual(users);
  const { data } = JSON.parse(rows[400]?.body.toString());
  expect(data).toEqual({ reason: 'app_suspended', revoked_at: '2026-11-20T11:00:00.000Z' });
});

test('ids of ends by suspension tell the time of their fact, as ids of all events do', async () => {
  const users = [pair.userId, newId('usr')];
  for (const userId of users) await facts.connect({ ...pair, userId });
  await facts.untilSent(owner.clientId, ['integration.connected', 'integration.connected']);
  const at = Date.parse('2026-11-20T11:00:00.123Z');
  const hex = at.toString(16).padStart(12, '0');
  await publishFact(world, {
    id: `${hex.slice(0, 8)}-${hex.slice(8)}-7abc-8def-0123456789ab`,
    subject: 'auth.app.disconnected.v1',
    aggregate: `disconnection:${owner.clientId}`,
    version: 1,
    data: {
      client_id: owner.clientId,
      revoked_at: new Date(at).toISOString(),
      connections: users.map((svc_user_id) => ({ svc_user_id, version: 2 })),
    },
  });
  await waitFor(async () => (await facts.sentTo(owner.clientId)).length === 4);
  const ends = await world.database
    .knex('events')
    .where({ owner_id: owner.clientId, event: 'integration.revoked' })
    .pluck('event_id');
  expect(new Set(ends).size).toBe(2);
  expect(ends.map(idTimeOf)).toEqual([idTimeAt(at), idTimeAt(at)]);
});

test('an end by suspension is sent before the reconnection, whose fact arrived first at another consumer', async () => {
  await facts.connect(pair);
  await facts.untilSent(owner.clientId, ['integration.connected']);
  await facts.connect(pair, 3);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await facts.sentTo(owner.clientId)).toEqual(['integration.connected']);
  await facts.suspend(owner.clientId, [pair.userId]);
  await facts.untilSent(
    owner.clientId,
    ['integration.connected', 'integration.revoked', 'integration.connected'],
    10_000,
  );
});

test('an end by suspension is sent once if its fact is published twice, and not at all if it is stale', async () => {
  const other = newId('usr');
  await facts.connect(pair);
  await facts.connect({ ...pair, userId: other });
  await facts.untilSent(owner.clientId, ['integration.connected', 'integration.connected']);
  await facts.suspend(owner.clientId, [pair.userId]);
  await facts.publishAgain('auth.app.disconnected.v1');
  await facts.suspend(owner.clientId, [pair.userId, other]);
  const sent = ['integration.connected', 'integration.connected', 'integration.revoked', 'integration.revoked'];
  await facts.untilSent(owner.clientId, sent);
  await facts.connect(pair, 3);
  await facts.untilSent(owner.clientId, [...sent, 'integration.connected']);
});

test('a deleted app takes its configuration, events and connections with it', async () => {
  world.receiver.next.push(500);
  await facts.connect(pair);
  await facts.untilSent(owner.clientId, ['integration.connected']);
  await publishFact(world, {
    subject: 'auth.app.deleted.v1',
    aggregate: `app:${owner.clientId}`,
    version: 2,
    data: { client_id: owner.clientId, owner_user_id: owner.userId, name: 'An app', active: false },
  });
  const tables = ['configurations', 'lanes', 'events', 'delivery_attempts', 'connections', 'ended_lanes'];
  const isGone = async () => {
    const counts = await Promise.all(
      tables.map((table) => {
        const column = table === 'connections' ? 'client_id' : 'owner_id';
        return world.database.knex(table).where(column, owner.clientId).first(column);
      }),
    );
    return counts.every((row) => row === undefined);
  };
  await waitFor(isGone);
});

test('the connections of an erased account are forgotten, once their ends were sent', async () => {
  await facts.connect(pair);
  await facts.untilSent(owner.clientId, ['integration.connected']);
  await publishFact(world, {
    subject: 'auth.account.erased.v1',
    aggregate: `account_deletion:${pair.userId}`,
    version: 2,
    data: { svc_user_id: pair.userId },
  });
  await facts.disconnect(pair, 2);
  await facts.untilSent(owner.clientId, ['integration.connected', 'integration.revoked']);
  const rows = world.database.knex('connections').where({ svc_user_id: pair.userId });
  await waitFor(async () => (await rows.clone()).length === 0);
});
