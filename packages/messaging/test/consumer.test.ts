import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { waitFor } from '@svc/testing';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  type ConsumerOptions,
  type Messaging,
  type ReceivedEvent,
  type Relay,
  startBatchConsumer,
  startConsumer,
} from '../src/index.ts';
import { noteEffect, readEffects, registerApp, updateApp } from './support/effects.ts';
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
  'test_ordered',
  'test_ordered_batch',
  'test_first',
  'test_parked',
  'test_outage',
  'test_stop',
  'test_pause',
];

let stage: Stage;
let messaging: Messaging;
let relay: Relay;
beforeAll(async () => {
  stage = await createStage(DURABLES, { test_killed: 1_000 });
});
afterEach(() => stage.reset());
afterAll(() => stage.end());

const subjects = ['auth.app.registered.v1', 'auth.app.updated.v1'] as const;
type Options = Partial<ConsumerOptions<(typeof subjects)[number]>>;

const begin = async () => {
  messaging = await stage.connect();
  relay = stage.relay(messaging);
};

const consume = (name: string, options: Options = {}) => {
  const database = stage.knex;
  const handle: ConsumerOptions<(typeof subjects)[number]>['handle'] = (trx, event) => noteEffect(trx, event);
  return stage.keep(startConsumer({ messaging, database, name, subjects, handle, ...options }));
};

const failure = (kind: string, code = `test.${kind}`) => Object.assign(new Error('secret text'), { kind, code });
const effects = () => readEffects(stage.knex);
const deadLetters = () => stage.knex('dead_letters').orderBy('id');

test('a poison message is parked with its payload and code, and the others flow', async () => {
  await begin();
  const apps = await Promise.all(Array.from({ length: 5 }, () => registerApp(stage.knex)));
  relay.hint();
  consume('test_poison', {
    handle: async (trx, event) => {
      await noteEffect(trx, event);
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

test.each(RETRIED)('an error of kind %s is tried again later', async (kind) => {
  await begin();
  await registerApp(stage.knex);
  let attempts = 0;
  consume(`test_retry_${kind}`, {
    handle: async (trx, event) => {
      attempts += 1;
      await noteEffect(trx, event);
      if (attempts < 3) throw kind === undefined ? new TypeError('a fault of ours') : failure(kind);
    },
  });
  relay.hint();
  await waitFor(async () => (await effects()).total === 1);
  expect(attempts).toBe(3);
  expect(await deadLetters()).toEqual([]);
});

test.each(NOT_RETRIED)('an error of kind %s is not tried again', async (kind) => {
  await begin();
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

test('what fails at every delivery is parked at the last', async () => {
  await begin();
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

test('what is not a fact of the contract is parked, whatever it is', async () => {
  await begin();
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

test('unknown fields are tolerated, so that a publisher may add some', async () => {
  await begin();
  const clientId = await registerApp(stage.knex);
  await stage.knex('outbox').update({ payload: stage.knex.raw(`payload || '{"added_later": true}'`) });
  const seen: ReceivedEvent[] = [];
  consume('test_tolerant', { handle: async (_trx, event) => void seen.push(event) });
  relay.hint();
  await waitFor(() => seen.length === 1);
  expect(seen[0]?.data).toMatchObject({ client_id: clientId });
});

test('killed between effect and acknowledgement: the fact comes again and has no second effect', async () => {
  await begin();
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

test('a message that ends the process each time is parked in the end', async () => {
  await begin();
  await registerApp(stage.knex);
  relay.hint();
  const first = consume('test_crasher', { maxDeliver: 2, handle: async () => Promise.reject(failure('limit')) });
  await waitFor(async () => (await messaging.manager.consumers.info('AUTH', 'test_crasher')).num_ack_pending === 1);
  await first.stop();
  // Each of these stands for a process that took the message and died.
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

test('versions of an aggregate in order, with two replicas and failures: none is overtaken', async () => {
  await begin();
  const other = await stage.connect('replica');
  let count = 0;
  const handle: Options['handle'] = async (trx, event) => {
    count += 1;
    if (count % 7 === 0) throw failure('unavailable');
    await noteEffect(trx, event);
  };
  consume('test_ordered', { ordered: true, handle });
  consume('test_ordered', { ordered: true, handle, messaging: other });
  const apps = await Promise.all(Array.from({ length: 3 }, () => registerApp(stage.knex)));
  for (let change = 0; change < 6; change += 1) {
    await Promise.all(apps.map((clientId) => updateApp(stage.knex, clientId)));
    relay.hint();
  }
  await waitFor(async () => (await effects()).total === 21, { timeoutMs: 40_000 });
  expect(await effects()).toEqual({ total: 21, distinct: 21, inOrder: true });
});

test('many in one transaction keep the order of versions too, over failures of the whole and of one', async () => {
  await begin();
  let failures = 0;
  stage.keep(
    startBatchConsumer({
      ...{ messaging, database: stage.knex, name: 'test_ordered_batch', subjects, ordered: true, batch: 10 },
      handle: async (trx, events) => {
        if (events.some(({ version }) => version === 3) && failures < 4) {
          failures += 1;
          throw failure('unavailable');
        }
        for (const event of events) await noteEffect(trx, event);
      },
    }),
  );
  const apps = await Promise.all(Array.from({ length: 3 }, () => registerApp(stage.knex)));
  for (let change = 0; change < 6; change += 1) {
    await Promise.all(apps.map((clientId) => updateApp(stage.knex, clientId)));
    relay.hint();
  }
  await waitFor(async () => (await effects()).total === 21, { timeoutMs: 20_000 });
  expect(await effects()).toEqual({ total: 21, distinct: 21, inOrder: true });
});

test('the first version of a new aggregate is not overtaken while it is tried again', async () => {
  await begin();
  const clientId = await registerApp(stage.knex);
  await updateApp(stage.knex, clientId);
  relay.hint();
  let refusals = 0;
  consume('test_first', {
    ordered: true,
    handle: async (trx, event) => {
      if (event.version === 1 && refusals < 2) {
        refusals += 1;
        throw failure('unavailable');
      }
      await noteEffect(trx, event);
    },
  });
  await waitFor(async () => (await effects()).total === 2);
  expect(await effects()).toEqual({ total: 2, distinct: 2, inOrder: true });
});

test('a parked version does not hold up those behind it, and an older one has no effect any more', async () => {
  await begin();
  const clientId = await registerApp(stage.knex);
  await updateApp(stage.knex, clientId);
  await updateApp(stage.knex, clientId);
  relay.hint();
  consume('test_parked', {
    ordered: true,
    handle: async (trx, event) => {
      if (event.version === 2) throw failure('invalid');
      await noteEffect(trx, event);
    },
  });
  await waitFor(async () => (await effects()).total === 2);
  const [row] = await stage.knex('outbox').where({ version: 2 });
  const stale = { ...row.payload };
  await messaging.jetstream.publish(
    'auth.app.updated.v1',
    JSON.stringify({
      ...{ id: '01920000-0000-7000-8000-000000000001', subject: 'auth.app.updated.v1', aggregate: row.aggregate },
      ...{ version: 1, occurred_at: '2026-10-01T12:00:00Z', data: stale },
    }),
  );
  await waitFor(
    async () => (await stage.knex('inbox').where({ event_id: '01920000-0000-7000-8000-000000000001' })).length,
  );
  expect((await effects()).total).toBe(2);
});

test('the database away: deliveries are not used up, and everything is handled when it is back', async () => {
  await begin();
  let attempts = 0;
  consume('test_outage', {
    maxDeliver: 3,
    handle: async (trx, event) => {
      attempts += 1;
      await noteEffect(trx, event);
      // The server ends this very connection, as in a restart.
      if (attempts <= 3) await trx.raw('SELECT pg_terminate_backend(pg_backend_pid())');
    },
  });
  await registerApp(stage.knex);
  relay.hint();
  await waitFor(async () => (await effects()).total === 1, { timeoutMs: 30_000 });
  expect(await deadLetters()).toEqual([]);
});

test('stopping waits for the message in hand and gives back what was not begun', async () => {
  await begin();
  await Promise.all(Array.from({ length: 6 }, () => registerApp(stage.knex)));
  relay.hint();
  const gate = Promise.withResolvers<void>();
  let begun = 0;
  const consumer = consume('test_stop', {
    handle: async (trx, event) => {
      begun += 1;
      await gate.promise;
      await noteEffect(trx, event);
    },
  });
  await waitFor(() => begun === 1);
  const stopped = consumer.stop();
  gate.resolve();
  await stopped;
  expect(begun).toBe(1);
  expect((await effects()).total).toBe(1);
  consume('test_stop');
  await waitFor(async () => (await effects()).total === 6, { timeoutMs: 3_000 });
});

test('pausing stops taking, resuming goes on', async () => {
  await begin();
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
