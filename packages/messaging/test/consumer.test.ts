import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { waitFor } from '@svc/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Messaging, ReceivedEvent, Relay } from '../src/index.ts';
import { beginConsumption, type Consumption, failure } from './support/consumption.ts';
import { readEffects, recordEffect, registerApp } from './support/effects.ts';
import { createStage, type Stage } from './support/stage.ts';

const RETRIED = ['limit', 'unavailable', 'internal', undefined];
const NOT_RETRIED = ['invalid', 'not_found', 'conflict', 'forbidden'];
const DURABLES = [
  ...RETRIED.map((kind) => `test_retry_${kind}`),
  ...NOT_RETRIED.map((kind) => `test_no_retry_${kind}`),
  'test_poison',
  'test_last',
  'test_invalid',
  'test_tolerant',
  'test_killed',
  'test_crasher',
  'test_outage',
  'test_stop',
  'test_pause',
];

let stage: Stage;
let messaging: Messaging;
let relay: Relay;
let consume: Consumption['consume'];
beforeAll(async () => {
  stage = await createStage(DURABLES, { test_killed: 1_000 });
});
beforeEach(async () => {
  ({ messaging, relay, consume } = await beginConsumption(stage));
});
afterEach(() => stage.reset());
afterAll(() => stage.end());

const effects = () => readEffects(stage.knex);
const deadLetters = () => stage.knex('dead_letters').orderBy('id');

test('parks a message whose handler refuses it, with payload and code, and handles the others', async () => {
  const apps = await Promise.all(Array.from({ length: 5 }, () => registerApp(stage.knex)));
  relay.hint();
  consume('test_poison', {
    handle: async (trx, event) => {
      await recordEffect(trx, event);
      if (event.data.client_id === apps[2]) throw failure('invalid');
    },
  });
  await waitFor(async () => (await effects()).total === 4);
  const letters = await waitFor(async () => ((await deadLetters()).length === 1 ? deadLetters() : undefined));
  expect(letters[0]).toMatchObject({
    consumer: 'test_poison',
    stream: 'AUTH',
    subject: 'auth.app.registered.v1',
    error_code: 'test.invalid',
    deliveries: 1,
    resolved_at: null,
  });
  expect(JSON.parse(letters[0].payload).data.client_id).toBe(apps[2]);
  expect(letters[0].payload).not.toContain('secret text');
});

test.each(RETRIED)('retries a handler that fails with kind %s', async (kind) => {
  await registerApp(stage.knex);
  let attempts = 0;
  consume(`test_retry_${kind}`, {
    handle: async (trx, event) => {
      attempts += 1;
      await recordEffect(trx, event);
      if (attempts < 3) throw kind === undefined ? new TypeError('a fault of ours') : failure(kind);
    },
  });
  relay.hint();
  await waitFor(async () => (await effects()).total === 1);
  expect(attempts).toBe(3);
  expect(await deadLetters()).toEqual([]);
});

test.each(NOT_RETRIED)('parks a message at once if the handler fails with kind %s', async (kind) => {
  await registerApp(stage.knex);
  let attempts = 0;
  consume(`test_no_retry_${kind}`, {
    handle: async () => {
      attempts += 1;
      throw failure(kind);
    },
  });
  relay.hint();
  await waitFor(async () => (await deadLetters()).length === 1);
  expect(attempts).toBe(1);
});

test('parks a message that fails at every delivery after the last one', async () => {
  await registerApp(stage.knex);
  consume('test_last', {
    maxDeliver: 3,
    handle: async () => {
      throw failure('unavailable');
    },
  });
  relay.hint();
  await waitFor(async () => (await deadLetters()).length === 1);
  expect(await deadLetters()).toMatchObject([{ deliveries: 3, error_code: 'test.unavailable' }]);
  const { num_ack_pending } = await messaging.manager.consumers.info('AUTH', 'test_last');
  expect(num_ack_pending).toBe(0);
});

test('parks messages that break the contract', async () => {
  consume('test_invalid');
  const publish = (body: string) => messaging.jetstream.publish('auth.app.registered.v1', body);
  await publish('not json');
  await publish('{"id": "1"}');
  await publish('"\\u0000"');
  await registerApp(stage.knex);
  relay.hint();
  await waitFor(async () => (await effects()).total === 1);
  await waitFor(async () => (await deadLetters()).length === 3);
  expect(await deadLetters()).toMatchObject([{ payload: 'not json', error_code: 'messaging.invalid_message' }, {}, {}]);
});

test('tolerates unknown fields, so that a publisher may add some', async () => {
  const clientId = await registerApp(stage.knex);
  await stage.knex('outbox').update({ payload: stage.knex.raw(`payload || '{"added_later": true}'`) });
  const seen: ReceivedEvent[] = [];
  consume('test_tolerant', { handle: async (_trx, event) => void seen.push(event) });
  relay.hint();
  await waitFor(() => seen.length === 1);
  expect(seen[0]?.data).toMatchObject({ client_id: clientId });
});

test('a fact takes effect once if the process is killed before it acknowledges', async () => {
  await registerApp(stage.knex);
  relay.hint();
  const child = spawn(
    process.execPath,
    [
      fileURLToPath(new URL('./support/consumer-that-dies.ts', import.meta.url)),
      stage.database.url,
      stage.nats.url,
      'test_killed',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const signal = await new Promise((resolve) => child.once('exit', (_code, by) => resolve(by)));
  expect(signal).toBe('SIGKILL');
  expect((await effects()).total).toBe(1);
  const pending = async () => (await messaging.manager.consumers.info('AUTH', 'test_killed')).num_ack_pending;
  expect(await pending()).toBe(1);
  let handled = 0;
  consume('test_killed', {
    handle: async () => {
      handled += 1;
    },
  });
  await waitFor(async () => (await pending()) === 0);
  expect(handled).toBe(0);
  expect((await effects()).total).toBe(1);
});

test('parks a message that ends the process at every delivery', async () => {
  await registerApp(stage.knex);
  relay.hint();
  const first = consume('test_crasher', { maxDeliver: 2, handle: async () => Promise.reject(failure('limit')) });
  await waitFor(async () => (await messaging.manager.consumers.info('AUTH', 'test_crasher')).num_ack_pending === 1);
  await first.stop();
  // Each delivery stands for a process that took the message and died.
  const durable = await messaging.jetstream.consumers.get('AUTH', 'test_crasher');
  for (let delivery = 2; delivery <= 12; delivery += 1) {
    const taken = await waitFor(() => durable.next({ expires: 2_000 }));
    expect(taken.info.deliveryCount).toBe(delivery);
    taken.nak();
  }
  consume('test_crasher', { maxDeliver: 2 });
  await waitFor(async () => (await deadLetters()).length === 1);
  expect(await deadLetters()).toMatchObject([{ error_code: 'messaging.never_settled', deliveries: 13 }]);
  expect((await effects()).total).toBe(0);
});

test('uses up no deliveries while the database is down, and handles all facts when it is back', async () => {
  let attempts = 0;
  consume('test_outage', {
    maxDeliver: 3,
    handle: async (trx, event) => {
      attempts += 1;
      await recordEffect(trx, event);
      // Ends this connection, as a restart of the server does.
      if (attempts <= 3) await trx.raw('SELECT pg_terminate_backend(pg_backend_pid())');
    },
  });
  await registerApp(stage.knex);
  relay.hint();
  await waitFor(async () => (await effects()).total === 1);
  expect(await deadLetters()).toEqual([]);
});

test('stop waits for the message in hand and gives the others back', async () => {
  await Promise.all(Array.from({ length: 6 }, () => registerApp(stage.knex)));
  relay.hint();
  const gate = Promise.withResolvers<void>();
  let begun = 0;
  const consumer = consume('test_stop', {
    handle: async (trx, event) => {
      begun += 1;
      await gate.promise;
      await recordEffect(trx, event);
    },
  });
  await waitFor(() => begun === 1);
  const stopped = consumer.stop();
  gate.resolve();
  await stopped;
  expect(begun).toBe(1);
  expect((await effects()).total).toBe(1);
  consume('test_stop');
  await waitFor(async () => (await effects()).total === 6);
});

test('pause stops fetching, and resume goes on', async () => {
  const consumer = consume('test_pause');
  await registerApp(stage.knex);
  relay.hint();
  await waitFor(async () => (await effects()).total === 1);
  await consumer.pause();
  await registerApp(stage.knex);
  relay.hint();
  await waitFor(async () => (await messaging.manager.consumers.info('AUTH', 'test_pause')).num_pending === 1);
  expect((await effects()).total).toBe(1);
  consumer.resume();
  await waitFor(async () => (await effects()).total === 2);
});
