import { waitFor } from '@svc/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Messaging, type Relay, startBatchConsumer } from '../src/index.ts';
import {
  type AppConsumerOptions,
  beginConsumption,
  type Consumption,
  failure,
  SUBJECTS,
} from './support/consumption.ts';
import { readEffects, recordEffect, registerApp, updateApp } from './support/effects.ts';
import { createStage, type Stage } from './support/stage.ts';

let stage: Stage;
let messaging: Messaging;
let relay: Relay;
let consume: Consumption['consume'];
beforeAll(async () => {
  stage = await createStage(['test_ordered', 'test_ordered_batch', 'test_first', 'test_parked']);
});
beforeEach(async () => {
  ({ messaging, relay, consume } = await beginConsumption(stage));
});
afterEach(() => stage.reset());
afterAll(() => stage.end());

const effects = () => readEffects(stage.knex);

test('versions of an aggregate take effect in order over failures and two replicas', async () => {
  const other = await stage.connect('replica');
  let count = 0;
  const handle: AppConsumerOptions['handle'] = async (trx, event) => {
    count += 1;
    if (count % 7 === 0) throw failure('unavailable');
    await recordEffect(trx, event);
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

test('versions take effect in order over failures of a batch and of its facts', async () => {
  let failures = 0;
  stage.keep(
    startBatchConsumer({
      messaging,
      database: stage.knex,
      name: 'test_ordered_batch',
      subjects: SUBJECTS,
      ordered: true,
      batch: 10,
      handle: async (trx, events) => {
        if (events.some(({ version }) => version === 3) && failures < 4) {
          failures += 1;
          throw failure('unavailable');
        }
        for (const event of events) await recordEffect(trx, event);
      },
    }),
  );
  const apps = await Promise.all(Array.from({ length: 3 }, () => registerApp(stage.knex)));
  for (let change = 0; change < 6; change += 1) {
    await Promise.all(apps.map((clientId) => updateApp(stage.knex, clientId)));
    relay.hint();
  }
  await waitFor(async () => (await effects()).total === 21);
  expect(await effects()).toEqual({ total: 21, distinct: 21, inOrder: true });
});

test('the second version of an aggregate waits while the first is retried', async () => {
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
      await recordEffect(trx, event);
    },
  });
  await waitFor(async () => (await effects()).total === 2);
  expect(await effects()).toEqual({ total: 2, distinct: 2, inOrder: true });
});

test('later versions go on after a parked one, and an older one has no effect', async () => {
  const clientId = await registerApp(stage.knex);
  await updateApp(stage.knex, clientId);
  await updateApp(stage.knex, clientId);
  relay.hint();
  consume('test_parked', {
    ordered: true,
    handle: async (trx, event) => {
      if (event.version === 2) throw failure('invalid');
      await recordEffect(trx, event);
    },
  });
  await waitFor(async () => (await effects()).total === 2);
  const [row] = await stage.knex('outbox').where({ version: 2 });
  const stale = { ...row.payload };
  await messaging.jetstream.publish(
    'auth.app.updated.v1',
    JSON.stringify({
      id: '01920000-0000-7000-8000-000000000001',
      subject: 'auth.app.updated.v1',
      aggregate: row.aggregate,
      version: 1,
      occurred_at: '2026-10-01T12:00:00Z',
      data: stale,
    }),
  );
  await waitFor(
    async () => (await stage.knex('inbox').where({ event_id: '01920000-0000-7000-8000-000000000001' })).length,
  );
  expect((await effects()).total).toBe(2);
});
