import { randomUUID } from 'node:crypto';
import { newId, type SubscriptionSnapshot } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  call,
  type Dispatcher,
  newOwner,
  type Owner,
  publishFact,
  startDispatcher,
  startWorld,
  type World,
} from './support/dispatcher.ts';

let world: World;
let dispatcher: Dispatcher;
let owner: Owner;
let userId: string;

beforeAll(async () => {
  world = await startWorld();
  dispatcher = await startDispatcher(world);
});
afterAll(async () => {
  await dispatcher?.stop();
  await world?.stop();
});
beforeEach(async () => {
  owner = await newConfiguredApp();
  userId = newId('usr');
});

const newConfiguredApp = async (): Promise<Owner> => {
  const made = await newOwner(world);
  expect((await call(dispatcher, made, ['PUT', '', { url: world.receiver.url }])).status).toBe(200);
  return made;
};

const snapshot = (revision: number): SubscriptionSnapshot => ({
  status: 'active',
  plan: { id: 'starter', name: 'Starter' },
  period: { start: '2026-11-01T00:00:00.000Z', end: '2026-12-01T00:00:00.000Z' },
  cancel_at_period_end: false,
  budget: { weekly_used_percent: 3, monthly_used_percent: 1, services: { chat: true, audio_transcription: false } },
  revision,
});

const connect = (clientId: string, version = 1, user = userId) =>
  publishFact(world, {
    subject: 'auth.connection.created.v1',
    aggregate: `connection:${user}:${clientId}`,
    version,
    data: {
      ...{ svc_user_id: user, client_id: clientId, grant_id: newId('grt') },
      ...{ scope: 'inference usage:read', connected_at: '2026-11-20T10:00:00.000Z' },
    },
  });

const disconnect = (clientId: string, version: number, user = userId) =>
  publishFact(world, {
    subject: 'auth.connection.revoked.v1',
    aggregate: `connection:${user}:${clientId}`,
    version,
    data: {
      ...{ svc_user_id: user, client_id: clientId },
      ...{ reason: 'user_disconnected', revoked_at: '2026-11-20T11:00:00.000Z' },
    },
  });

/** Ends connections of a suspended app, as auth does: many in one fact. */
const suspend = (clientId: string, users: readonly string[], version = 2) =>
  publishFact(world, {
    subject: 'auth.app.disconnected.v1',
    aggregate: `disconnection:${randomUUID()}`,
    version: 1,
    data: {
      ...{ client_id: clientId, revoked_at: '2026-11-20T11:00:00.000Z' },
      connections: users.map((svc_user_id) => ({ svc_user_id, version })),
    },
  });

const change = (revision: number, id?: string) =>
  publishFact(world, {
    subject: 'billing.subscription.changed.v1',
    aggregate: `subscription:${userId}`,
    version: revision,
    data: { svc_user_id: userId, ...snapshot(revision) },
    ...(id === undefined ? {} : { id }),
  });

/** What an app was told, in the order of its sequence: each event with the revision where it has one. */
const toldTo = async (clientId: string): Promise<string[]> => {
  const rows = await world.database.knex('events').where({ client_id: clientId }).orderBy('sequence').select('body');
  return rows.map(({ body }) => {
    const { event, data } = JSON.parse(body.toString());
    return data.revision === undefined ? event : `${event} ${data.revision}`;
  });
};
const untilTold = (clientId: string, told: string[], timeoutMs = 5_000) =>
  waitFor(async () => JSON.stringify(await toldTo(clientId)) === JSON.stringify(told), { timeoutMs });
const deadLetters = async () => await world.database.knex('dead_letters').select('*');

describe('connections', () => {
  test('without a subscription are told alone', async () => {
    await connect(owner.clientId);
    await untilTold(owner.clientId, ['integration.connected']);
  });

  test('to an app without a configuration are not told, and take no place in its sequence', async () => {
    const other = await newOwner(world);
    await connect(other.clientId);
    await connect(owner.clientId);
    await untilTold(owner.clientId, ['integration.connected']);
    await call(dispatcher, other, ['PUT', '', { url: world.receiver.url }]);
    await call(dispatcher, other, ['POST', '/test']);
    expect(await toldTo(other.clientId)).toEqual(['integration.test']);
  });

  test('that end are told with their reason', async () => {
    await connect(owner.clientId);
    await disconnect(owner.clientId, 2);
    await untilTold(owner.clientId, ['integration.connected', 'integration.revoked']);
    const received = await waitFor(() =>
      world.receiver.received.find(({ event }) => event.integration_id === owner.clientId && event.sequence === 2),
    );
    expect(received.event.data).toEqual({ reason: 'user_disconnected', revoked_at: '2026-11-20T11:00:00.000Z' });
  });

  test('made again are told again, with the subscription of then', async () => {
    world.standIns.snapshots.set(userId, snapshot(1));
    await connect(owner.clientId);
    await disconnect(owner.clientId, 2);
    await untilTold(owner.clientId, ['integration.connected', 'subscription.updated 1', 'integration.revoked']);
    world.standIns.snapshots.set(userId, snapshot(2));
    await connect(owner.clientId, 3);
    await untilTold(owner.clientId, [
      ...['integration.connected', 'subscription.updated 1', 'integration.revoked'],
      ...['integration.connected', 'subscription.updated 2'],
    ]);
  });

  test('whose facts come in the wrong order are told in the right one', async () => {
    await disconnect(owner.clientId, 2);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await toldTo(owner.clientId)).toEqual([]);
    await connect(owner.clientId, 1);
    await untilTold(owner.clientId, ['integration.connected', 'integration.revoked'], 10_000);
  });

  test('are told once, however often their fact comes', async () => {
    const id = await connect(owner.clientId);
    await untilTold(owner.clientId, ['integration.connected']);
    const fact = await world.database.knex('events').where({ client_id: owner.clientId }).first('fact_id');
    expect(fact.fact_id).toBe(id);
    const stream = await world.operator.manager.streams.getMessage('AUTH', {
      last_by_subj: 'auth.connection.created.v1',
    });
    // Without its message id, so that the broker takes it for a new one.
    await world.operator.jetstream.publish('auth.connection.created.v1', stream.data);
    await disconnect(owner.clientId, 2);
    await untilTold(owner.clientId, ['integration.connected', 'integration.revoked']);
  });

  test('made while billing is away are told once it is back, and nothing is lost', async () => {
    world.standIns.snapshots.set(userId, snapshot(1));
    world.standIns.isDown = true;
    await connect(owner.clientId);
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(await toldTo(owner.clientId)).toEqual([]);
    world.standIns.isDown = false;
    await untilTold(owner.clientId, ['integration.connected', 'subscription.updated 1'], 10_000);
  });
});

describe('subscriptions', () => {
  test('are told to each connected app, and to no other', async () => {
    const [second, stranger] = [await newConfiguredApp(), await newConfiguredApp()];
    await connect(owner.clientId);
    await connect(second.clientId);
    await connect(stranger.clientId, 1, newId('usr'));
    await untilTold(stranger.clientId, ['integration.connected']);
    await change(1);
    await untilTold(owner.clientId, ['integration.connected', 'subscription.updated 1']);
    await untilTold(second.clientId, ['integration.connected', 'subscription.updated 1']);
    expect(await toldTo(stranger.clientId)).toEqual(['integration.connected']);
  });

  test('are not told again in a state that the app knows', async () => {
    world.standIns.snapshots.set(userId, snapshot(2));
    await connect(owner.clientId);
    await untilTold(owner.clientId, ['integration.connected', 'subscription.updated 2']);
    await change(1);
    await change(2);
    await change(3);
    await untilTold(owner.clientId, ['integration.connected', 'subscription.updated 2', 'subscription.updated 3']);
  });

  test('are not told to an app that the user has left', async () => {
    await connect(owner.clientId);
    await disconnect(owner.clientId, 2);
    await untilTold(owner.clientId, ['integration.connected', 'integration.revoked']);
    const other = await newConfiguredApp();
    await connect(other.clientId);
    await untilTold(other.clientId, ['integration.connected']);
    await change(1);
    await untilTold(other.clientId, ['integration.connected', 'subscription.updated 1']);
    expect(await toldTo(owner.clientId)).toEqual(['integration.connected', 'integration.revoked']);
  });

  test('that end are told as ended', async () => {
    await connect(owner.clientId);
    await untilTold(owner.clientId, ['integration.connected']);
    await publishFact(world, {
      subject: 'billing.subscription.ended.v1',
      aggregate: `subscription:${userId}`,
      version: 1,
      data: { svc_user_id: userId, status: 'canceled', ended_at: '2026-11-20T12:00:00.000Z', revision: 1 },
    });
    await untilTold(owner.clientId, ['integration.connected', 'subscription.ended 1']);
    const { body } = await world.database
      .knex('events')
      .where({ client_id: owner.clientId, sequence: 2 })
      .first('body');
    expect(JSON.parse(body.toString()).data).toEqual({
      ...{ status: 'canceled', ended_at: '2026-11-20T12:00:00.000Z', revision: 1 },
    });
  });

  test('of a user with 500 connected apps are told to each once', async () => {
    const apps = Array.from({ length: 500 }, () => newId('app'));
    await world.database.knex('lanes').insert(apps.map((client_id) => ({ client_id, generation: 1 })));
    for (const clientId of apps) await connect(clientId);
    const count = async (event: string) =>
      Number((await world.database.knex('events').where({ event }).whereIn('client_id', apps).count())[0]?.['count']);
    await waitFor(async () => (await count('integration.connected')) === 500, { timeoutMs: 20_000 });
    await change(1);
    await waitFor(async () => (await count('subscription.updated')) === 500, { timeoutMs: 20_000 });
    await world.database.knex('events').whereIn('client_id', apps).delete();
    await world.database.knex('lanes').whereIn('client_id', apps).delete();
  });
});

describe('apps', () => {
  test('that are suspended are told of each connection that ends, in order and without a gap', async () => {
    const users = Array.from({ length: 400 }, () => newId('usr'));
    for (const user of users) await connect(owner.clientId, 1, user);
    await waitFor(async () => (await toldTo(owner.clientId)).length === 400, { timeoutMs: 20_000 });
    await suspend(owner.clientId, users.slice(0, 300));
    await suspend(owner.clientId, users.slice(300));
    await waitFor(async () => (await toldTo(owner.clientId)).length === 800, { timeoutMs: 20_000 });
    const rows = await world.database
      .knex('events')
      .where({ client_id: owner.clientId })
      .orderBy('sequence')
      .select('body', 'sequence');
    expect(rows.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 800 }, (_, index) => index + 1));
    const ended = rows.slice(400).map(({ body }) => JSON.parse(body.toString()).user.svc_user_id);
    expect(ended).toEqual(users);
    const { data } = JSON.parse(rows[400]?.body.toString());
    expect(data).toEqual({ reason: 'app_suspended', revoked_at: '2026-11-20T11:00:00.000Z' });
  });

  test('that are suspended are told of an end before of the connection made after it, though they come by two ways', async () => {
    await connect(owner.clientId);
    await untilTold(owner.clientId, ['integration.connected']);
    await connect(owner.clientId, 3);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await toldTo(owner.clientId)).toEqual(['integration.connected']);
    await suspend(owner.clientId, [userId]);
    await untilTold(owner.clientId, ['integration.connected', 'integration.revoked', 'integration.connected'], 10_000);
  });

  test('that are suspended are told of each end once, however often its fact comes, and of none that is stale', async () => {
    const other = newId('usr');
    await connect(owner.clientId);
    await connect(owner.clientId, 1, other);
    await untilTold(owner.clientId, ['integration.connected', 'integration.connected']);
    await suspend(owner.clientId, [userId]);
    const { data } = await world.operator.manager.streams.getMessage('AUTH', {
      last_by_subj: 'auth.app.disconnected.v1',
    });
    // Without its message id, so that the broker takes it for a new one.
    await world.operator.jetstream.publish('auth.app.disconnected.v1', data);
    await suspend(owner.clientId, [userId, other]);
    const told = ['integration.connected', 'integration.connected', 'integration.revoked', 'integration.revoked'];
    await untilTold(owner.clientId, told);
    await connect(owner.clientId, 3);
    await untilTold(owner.clientId, [...told, 'integration.connected']);
  });

  test('that are deleted take configuration, events and connections with them', async () => {
    world.receiver.next.push(500);
    await connect(owner.clientId);
    await untilTold(owner.clientId, ['integration.connected']);
    await publishFact(world, {
      subject: 'auth.app.deleted.v1',
      aggregate: `app:${owner.clientId}`,
      version: 2,
      data: { client_id: owner.clientId, owner_user_id: owner.userId, name: 'An app', active: false },
    });
    const tables = ['configurations', 'lanes', 'events', 'delivery_attempts', 'connections'];
    await waitFor(async () => {
      const counts = await Promise.all(
        tables.map((table) => world.database.knex(table).where({ client_id: owner.clientId }).first('client_id')),
      );
      return counts.every((row) => row === undefined);
    });
  });

  test('leave no dead letter in all of this', async () => {
    expect(await deadLetters()).toEqual([]);
  });
});
