import { waitFor } from '@svc/testing';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { appendToOutbox, type Messaging, startConsumer } from '../src/index.ts';
import { isStreamInOrder, readEffects, recordEffect, registerApp, updateApp } from './support/effects.ts';
import { createStage, type Stage } from './support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  const durables = ['test_away', 'test_restart', 'test_wiped', 'test_full'];
  // The broker delivers messages of a lost connection again after this time.
  const ackWaitsMs = Object.fromEntries(durables.map((name) => [name, 1_500]));
  stage = await createStage(durables, ackWaitsMs);
});
afterEach(() => stage.reset());
afterAll(() => stage.end());

const recordAll = async (name: string) => {
  const messaging = await stage.connect(name);
  const subjects = ['auth.app.registered.v1', 'auth.app.updated.v1'] as const;
  return stage.keep(
    startConsumer({
      messaging,
      database: stage.knex,
      name,
      subjects,
      handle: (trx, event) => recordEffect(trx, event),
      ordered: true,
    }),
  );
};

const unpublished = async () => (await stage.knex('outbox').whereNull('published_at')).length;
const everyEffectOnce = (total: number) => ({ total, distinct: total, inOrder: true });
const waitForEffects = (total: number) => waitFor(async () => (await readEffects(stage.knex)).total >= total);

test('facts wait in the outbox while NATS is away, and are published in order when it is back', async () => {
  stage.relay(await stage.connect());
  await recordAll('test_away');
  const clientId = await registerApp(stage.knex);
  await waitForEffects(1);
  await stage.nats.pause();
  for (let change = 0; change < 10; change += 1) await updateApp(stage.knex, clientId);
  expect(await unpublished()).toBe(10);
  await stage.nats.start();
  await waitForEffects(11);
  expect(await readEffects(stage.knex)).toEqual(everyEffectOnce(11));
});

test('facts take effect once and in order while NATS is restarted and killed', async () => {
  const messaging = await stage.connect();
  stage.relay(messaging);
  await recordAll('test_restart');
  const apps = await Promise.all(Array.from({ length: 4 }, () => registerApp(stage.knex)));
  const disturb = async () => {
    await stage.nats.restart();
    await stage.nats.kill();
    await stage.nats.start();
    await stage.nats.restart();
  };
  let disturbed = false;
  const disturbing = disturb().finally(() => {
    disturbed = true;
  });
  let changes = 0;
  while (!disturbed || changes < 200) {
    await Promise.all(apps.map((clientId) => updateApp(stage.knex, clientId)));
    changes += apps.length;
  }
  await disturbing;
  await waitForEffects(apps.length + changes);
  expect(await readEffects(stage.knex)).toEqual(everyEffectOnce(apps.length + changes));
  expect(await unpublished()).toBe(0);
  expect(await isStreamInOrder(messaging)).toBe(true);
});

test('after NATS lost its data, all kept facts are published again and have no second effect', async () => {
  const messaging = await stage.connect();
  stage.relay(messaging);
  const consumer = await recordAll('test_wiped');
  const clientId = await registerApp(stage.knex);
  for (let change = 0; change < 9; change += 1) await updateApp(stage.knex, clientId);
  await stage.knex.transaction((trx) => appendToOutbox(trx, { revocation: { key: 'grant.grt_1' } }));
  await waitForEffects(10);
  await waitFor(async () => (await unpublished()) === 0);
  // The broker acknowledges these facts, but no consumer has them yet.
  await consumer.pause();
  for (let change = 0; change < 5; change += 1) await updateApp(stage.knex, clientId);
  await waitFor(async () => (await unpublished()) === 0);
  await stage.nats.wipe();
  await waitFor(async () => (await storedMessages(messaging, 'AUTH')) === 15);
  await waitFor(async () => (await storedMessages(messaging, 'KV_revocations')) === 1);
  consumer.resume();
  await waitForEffects(15);
  await updateApp(stage.knex, clientId);
  await waitForEffects(16);
  expect(await readEffects(stage.knex)).toEqual(everyEffectOnce(16));
  await waitFor(async () => (await unpublished()) === 0);
});

test('a relay that starts after NATS lost its data publishes the kept facts again', async () => {
  const relay = stage.relay(await stage.connect());
  await registerApp(stage.knex);
  relay.hint();
  await waitFor(async () => (await unpublished()) === 0);
  await relay.stop();
  await stage.nats.wipe();
  const messaging = await stage.connect();
  stage.relay(messaging);
  await waitFor(async () => (await storedMessages(messaging, 'AUTH')) === 1);
});

test('only the lost facts are published again if a stream lost its end', async () => {
  const messaging = await stage.connect();
  const relay = stage.relay(messaging);
  const clientId = await registerApp(stage.knex);
  for (let change = 0; change < 5; change += 1) await updateApp(stage.knex, clientId);
  await waitFor(async () => (await unpublished()) === 0);
  await relay.stop();
  // As if restored from a copy taken after the fourth message.
  await stage.knex('outbox_streams').update({ last_stream_seq: 10 });
  await stage.knex('outbox').where('stream_seq', '>', 4).increment('stream_seq', 4);
  stage.relay(messaging);
  await waitFor(async () => (await stage.knex('outbox').max('stream_seq as last').first())?.last === 6);
  expect(
    stage.logs.entries.filter(({ message }) => message.includes('lost acknowledged')).at(-1)?.fields,
  ).toMatchObject({
    count: 2,
  });
});

test('a stream that was reset and has grown since is recognized by its last acknowledged message', async () => {
  const messaging = await stage.connect();
  const relay = stage.relay(messaging);
  const clientId = await registerApp(stage.knex);
  await updateApp(stage.knex, clientId);
  await waitFor(async () => (await unpublished()) === 0);
  await relay.stop();
  await stage.knex('outbox_streams').update({ last_event_id: '01920000-0000-7000-8000-000000000000' });
  const before = stage.logs.entries.length;
  stage.relay(messaging);
  await waitFor(() => stage.logs.entries.slice(before).some(({ message }) => message.includes('lost acknowledged')));
  await waitFor(async () => (await unpublished()) === 0);
});

test('facts of a full stream wait with a reason in the log, and revocations are still published', async () => {
  const messaging = await stage.connect();
  await messaging.manager.streams.update('AUTH', { max_msgs: 1 });
  stage.relay(messaging);
  const clientId = await registerApp(stage.knex);
  await updateApp(stage.knex, clientId);
  await updateApp(stage.knex, clientId);
  await waitFor(async () => (await unpublished()) === 2);
  await stage.knex.transaction((trx) => appendToOutbox(trx, { revocation: { key: 'session.ses_1' } }));
  await waitFor(async () => (await storedMessages(messaging, 'KV_revocations')) === 1);
  await waitFor(async () => (await unpublished()) === 2);
  expect(stage.logs.entries.map(({ fields }) => fields)).toContainEqual(
    expect.objectContaining({ component: 'outbox_relay', stream: 'AUTH', reason: 'maximum messages exceeded' }),
  );
  await messaging.manager.streams.update('AUTH', { max_msgs: -1 });
  await recordAll('test_full');
  await waitForEffects(3);
  expect(await readEffects(stage.knex)).toEqual(everyEffectOnce(3));
});

const storedMessages = async (messaging: Messaging, stream: string): Promise<number> =>
  (await messaging.untilDisconnect(messaging.manager.streams.info(stream))).state.messages;
