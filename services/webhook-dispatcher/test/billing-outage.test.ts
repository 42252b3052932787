import { newId } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Dispatcher, type Owner, startDispatcher, startWorld, type World } from './support/dispatcher.ts';
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
afterEach(() => {
  world.standIns.isDown = false;
  world.standIns.beforeAnswer = async () => undefined;
});

/** Returns the value of the gauge of paused consumers. */
const pausedBy = async (consumer: string): Promise<number | undefined> => {
  const line = (await dispatcher.metrics.registry.metrics())
    .split('\n')
    .find((text) => text.startsWith('consumer_paused{') && text.includes(consumer) && text.includes('dependency'));
  return line === undefined ? undefined : Number(line.split(' ').at(-1));
};
const deliveriesOf = async (consumer: string): Promise<number> =>
  (await world.operator.manager.consumers.info('AUTH', consumer)).delivered.consumer_seq;

test('consumers of connections wait while billing is away, and then send everything in order', async () => {
  const left = newId('usr');
  const suspended = newId('usr');
  for (const userId of [pair.userId, left, suspended]) world.standIns.snapshots.set(userId, snapshot(1));
  world.standIns.isDown = true;
  await facts.connect(pair);
  await facts.connect({ ...pair, userId: left });
  await facts.disconnect({ ...pair, userId: left }, 2);
  await facts.connect({ ...pair, userId: suspended });
  await facts.suspend(owner.clientId, [suspended]);
  for (const consumer of ['webhook-dispatcher_connections', 'webhook-dispatcher_disconnections']) {
    await waitFor(async () => (await pausedBy(consumer)) === 1);
  }
  const before = await deliveriesOf('webhook-dispatcher_connections');
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  expect(await deliveriesOf('webhook-dispatcher_connections')).toBe(before);
  expect(await facts.sentTo(owner.clientId)).toEqual([]);

  world.standIns.isDown = false;
  const revoked = async () => (await facts.sentTo(owner.clientId)).filter((event) => event.endsWith('revoked')).length;
  await waitFor(async () => (await revoked()) === 2);
  const rows = await world.database.knex('events').where({ owner_id: owner.clientId }).orderBy('sequence');
  const sentAbout = (userId: string) =>
    rows
      .map(({ body }) => JSON.parse(body.toString()))
      .filter(({ user }) => user.svc_user_id === userId)
      .map(({ event }) => event);
  expect(sentAbout(pair.userId)).toEqual(['integration.connected', 'subscription.updated']);
  for (const userId of [left, suspended]) {
    expect([sentAbout(userId).at(0), sentAbout(userId).at(-1)]).toEqual([
      'integration.connected',
      'integration.revoked',
    ]);
  }
  await waitFor(async () => (await pausedBy('webhook-dispatcher_connections')) === 0);
});

test('no transaction is open while billing is asked', async () => {
  world.standIns.snapshots.set(pair.userId, snapshot(1));
  let openTransactions: number | undefined;
  const countOpen = async (): Promise<number> => {
    const { rows } = await world.database.knex.raw(
      `SELECT count(*)::int AS open FROM pg_stat_activity
       WHERE datname = current_database() AND state LIKE 'idle in transaction%'`,
    );
    return rows[0].open;
  };
  world.standIns.beforeAnswer = async () => {
    // Those of other work end by themselves; one that asks would stay open.
    await waitFor(async () => {
      openTransactions = await countOpen();
      return openTransactions === 0;
    });
  };
  await facts.connect(pair);
  await facts.untilSent(owner.clientId, ['integration.connected', 'subscription.updated 1']);
  expect(openTransactions).toBe(0);
});

test('a subscription that changes while billing answers is sent in its newest state', async () => {
  world.standIns.snapshots.set(pair.userId, snapshot(1));
  world.standIns.beforeAnswer = async () => {
    world.standIns.beforeAnswer = async () => undefined;
    world.standIns.snapshots.set(pair.userId, snapshot(2));
    await facts.changeSubscription(pair.userId, 1);
    await facts.changeSubscription(pair.userId, 2);
    const handled = {
      consumer: 'webhook-dispatcher_subscriptions',
      aggregate: `subscription:${pair.userId}`,
      version: 2,
    };
    await waitFor(async () => (await world.database.knex('inbox_versions').where(handled).first()) !== undefined);
  };
  await facts.connect(pair);
  await facts.untilSent(owner.clientId, ['integration.connected', 'subscription.updated 2'], 10_000);
});
