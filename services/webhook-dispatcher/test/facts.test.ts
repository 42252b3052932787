import { internalRoutes, newId } from '@svc/contracts';
import { createInternalClient } from '@svc/service-kit';
import { internalCredential, waitFor } from '@svc/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  call,
  type Dispatcher,
  newOwner,
  type Owner,
  startDispatcher,
  startWorld,
  type World,
} from './support/dispatcher.ts';
import { createFacts, type Pair, snapshot } from './support/facts.ts';

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

describe('the export of a person', () => {
  test('contains the bodies of the events about them, as sent to their apps, and the retention time', async () => {
    await facts.connect(pair);
    await facts.connect({ ...pair, userId: newId('usr') });
    await facts.untilSent(owner.clientId, ['integration.connected', 'integration.connected']);
    const exported = await exportOf(pair.userId);
    const sent = world.receiver.received.find(
      ({ event }) => event.integration_id === owner.clientId && event.user.svc_user_id === pair.userId,
    );
    expect(exported.events).toEqual([
      {
        client_id: owner.clientId,
        event_id: sent?.event.event_id,
        event: 'integration.connected',
        sequence: expect.any(Number),
        status: expect.any(String),
        created: expect.any(String),
        body: sent?.event,
      },
    ]);
    expect(exported.event_retention).toEqual([{ days: 30, kept_since: expect.any(String) }]);
    expect((await exportOf(newId('usr'))).events).toEqual([]);
  });
});

const exportOf = async (userId: string): Promise<Record<string, unknown[]>> => {
  const auth = createInternalClient({
    baseUrl: dispatcher.internalUrl,
    token: internalCredential('auth'),
    timeoutMs: 10_000,
  });
  try {
    let text = '';
    const input = { params: { svc_user_id: userId }, timeoutMs: 10_000, signal: AbortSignal.timeout(10_000) };
    for await (const piece of await auth.stream(internalRoutes.exportWebhookData, input)) text += piece;
    return JSON.parse(text);
  } finally {
    await auth.close();
  }
};

describe('connections', () => {
  test('are sent alone if the user has no subscription', async () => {
    await facts.connect(pair);
    await facts.untilSent(owner.clientId, ['integration.connected']);
  });

  test('are not sent to an app without a configuration, and take no sequence', async () => {
    const other = await newOwner(world);
    await facts.connect({ ...pair, clientId: other.clientId });
    await facts.connect(pair);
    await facts.untilSent(owner.clientId, ['integration.connected']);
    await call(dispatcher, other, ['PUT', '', { url: world.receiver.url }]);
    await call(dispatcher, other, ['POST', '/test']);
    expect(await facts.sentTo(other.clientId)).toEqual(['integration.test']);
  });

  test('that end are sent with their reason', async () => {
    await facts.connect(pair);
    await facts.disconnect(pair, 2);
    await facts.untilSent(owner.clientId, ['integration.connected', 'integration.revoked']);
    const received = await waitFor(() =>
      world.receiver.received.find(({ event }) => event.integration_id === owner.clientId && event.sequence === 2),
    );
    expect(received.event.data).toEqual({ reason: 'user_disconnected', revoked_at: '2026-11-20T11:00:00.000Z' });
  });

  test('are sent again after a reconnection, with the subscription of that time', async () => {
    world.standIns.snapshots.set(pair.userId, snapshot(1));
    await facts.connect(pair);
    await facts.untilSent(owner.clientId, ['integration.connected', 'subscription.updated 1']);
    await facts.disconnect(pair, 2);
    await facts.untilSent(owner.clientId, ['integration.connected', 'subscription.updated 1', 'integration.revoked']);
    world.standIns.snapshots.set(pair.userId, snapshot(2));
    await facts.connect(pair, 3);
    await facts.untilSent(owner.clientId, [
      'integration.connected',
      'subscription.updated 1',
      'integration.revoked',
      'integration.connected',
      'subscription.updated 2',
    ]);
  });

  test('are sent in order if their facts arrive out of order', async () => {
    await facts.disconnect(pair, 2);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await facts.sentTo(owner.clientId)).toEqual([]);
    await facts.connect(pair, 1);
    await facts.untilSent(owner.clientId, ['integration.connected', 'integration.revoked'], 10_000);
  });

  test('are sent once if their fact is published twice', async () => {
    const id = await facts.connect(pair);
    await facts.untilSent(owner.clientId, ['integration.connected']);
    const fact = await world.database.knex('events').where({ owner_id: owner.clientId }).first('fact_id');
    expect(fact.fact_id).toBe(id);
    await facts.publishAgain('auth.connection.created.v1');
    await facts.disconnect(pair, 2);
    await facts.untilSent(owner.clientId, ['integration.connected', 'integration.revoked']);
  });

  test('are sent when billing is back if it was away', async () => {
    world.standIns.snapshots.set(pair.userId, snapshot(1));
    world.standIns.isDown = true;
    await facts.connect(pair);
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(await facts.sentTo(owner.clientId)).toEqual([]);
    world.standIns.isDown = false;
    await facts.untilSent(owner.clientId, ['integration.connected', 'subscription.updated 1'], 10_000);
  });
});

describe('subscriptions', () => {
  test('are sent to each connected app, and to no other', async () => {
    const second = await facts.newConfiguredApp();
    const stranger = await facts.newConfiguredApp();
    await facts.connect(pair);
    await facts.connect({ ...pair, clientId: second.clientId });
    await facts.connect({ userId: newId('usr'), clientId: stranger.clientId });
    await facts.untilSent(stranger.clientId, ['integration.connected']);
    await facts.changeSubscription(pair.userId, 1);
    await facts.untilSent(owner.clientId, ['integration.connected', 'subscription.updated 1']);
    await facts.untilSent(second.clientId, ['integration.connected', 'subscription.updated 1']);
    expect(await facts.sentTo(stranger.clientId)).toEqual(['integration.connected']);
  });

  test('are not sent again in a revision that the app has', async () => {
    world.standIns.snapshots.set(pair.userId, snapshot(2));
    await facts.connect(pair);
    await facts.untilSent(owner.clientId, ['integration.connected', 'subscription.updated 2']);
    await facts.changeSubscription(pair.userId, 1);
    await facts.changeSubscription(pair.userId, 2);
    await facts.changeSubscription(pair.userId, 3);
    await facts.untilSent(owner.clientId, [
      'integration.connected',
      'subscription.updated 2',
      'subscription.updated 3',
    ]);
  });

  test('are not sent to an app that the user has left', async () => {
    await facts.connect(pair);
    await facts.disconnect(pair, 2);
    await facts.untilSent(owner.clientId, ['integration.connected', 'integration.revoked']);
    const other = await facts.newConfiguredApp();
    await facts.connect({ ...pair, clientId: other.clientId });
    await facts.untilSent(other.clientId, ['integration.connected']);
    await facts.changeSubscription(pair.userId, 1);
    await facts.untilSent(other.clientId, ['integration.connected', 'subscription.updated 1']);
    expect(await facts.sentTo(owner.clientId)).toEqual(['integration.connected', 'integration.revoked']);
  });

  test('are sent as ended if they end', async () => {
    await facts.connect(pair);
    await facts.untilSent(owner.clientId, ['integration.connected']);
    const ended_at = '2026-11-20T12:00:00.000Z';
    await facts.endSubscription(pair.userId, 1, ended_at);
    await facts.untilSent(owner.clientId, ['integration.connected', 'subscription.ended 1']);
    const { body } = await world.database.knex('events').where({ owner_id: owner.clientId, sequence: 2 }).first('body');
    expect(JSON.parse(body.toString()).data).toEqual({ status: 'canceled', ended_at, revision: 1 });
  });

  test('are sent once to each of 500 connected apps', async () => {
    const apps = Array.from({ length: 500 }, () => newId('app'));
    await world.database.knex('lanes').insert(apps.map((owner_id) => ({ owner_id, generation: 1 })));
    for (const clientId of apps) await facts.connect({ ...pair, clientId });
    const count = async (event: string) =>
      Number((await world.database.knex('events').where({ event }).whereIn('owner_id', apps).count())[0]?.['count']);
    await waitFor(async () => (await count('integration.connected')) === 500);
    await facts.changeSubscription(pair.userId, 1);
    await waitFor(async () => (await count('subscription.updated')) === 500);
    await world.database.knex('events').whereIn('owner_id', apps).delete();
    await world.database.knex('lanes').whereIn('owner_id', apps).delete();
  });
});
