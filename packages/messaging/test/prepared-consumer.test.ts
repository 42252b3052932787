import { waitFor } from '@svc/testing';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type MessagingMetrics, type PreparedConsumerOptions, startBatchConsumer } from '../src/index.ts';
import { failure, SUBJECTS } from './support/consumption.ts';
import { readEffects, recordEffect, registerApp } from './support/effects.ts';
import { createStage, type Stage } from './support/stage.ts';

type Options = PreparedConsumerOptions<(typeof SUBJECTS)[number]>;

/** Last values of the gauge of paused consumers, by requirement. */
const paused = new Map<string | undefined, number>();
const metrics: MessagingMetrics = {
  counter: () => ({ inc: () => undefined }),
  gauge: ({ name }) => ({
    set: ({ requirement }, value) => {
      if (name === 'consumer_paused') paused.set(requirement, value);
    },
  }),
};

let stage: Stage;
beforeAll(async () => {
  stage = await createStage(['test_away', 'test_one_refused', 'test_unlocked', 'test_replays']);
});
afterEach(() => stage.reset());
afterAll(() => stage.end());

const begin = async (name: string, options: Pick<Options, 'prepare' | 'probe'> & Partial<Options>) => {
  const messaging = await stage.connect('test', metrics);
  const relay = stage.relay(messaging);
  const consumer = stage.keep(
    startBatchConsumer({ messaging, database: stage.knex, name, subjects: SUBJECTS, ...options }),
  );
  relay.hint();
  return { consumer, relay };
};
const record: Awaited<ReturnType<Options['prepare']>> = async (trx, events) => {
  for (const event of events) await recordEffect(trx, event);
};
const deadLetters = () => stage.knex('dead_letters').orderBy('id');

test('fetches nothing while a service that it asks is away, and parks nothing', async () => {
  for (let count = 0; count < 5; count += 1) await registerApp(stage.knex);
  let isAway = true;
  let asked = 0;
  let probed = 0;
  const ask = async () => {
    if (isAway) throw failure('unavailable');
  };
  await begin('test_away', {
    // Fewer than the probes of this outage.
    maxDeliver: 2,
    prepare: async () => {
      asked += 1;
      await ask();
      return record;
    },
    probe: async () => {
      probed += 1;
      await ask();
    },
  });
  await waitFor(() => probed >= 3);
  expect(paused.get('dependency')).toBe(1);
  // At the start of the outage only; the probes take no message.
  expect(asked).toBe(1);
  expect((await readEffects(stage.knex)).total).toBe(0);
  isAway = false;
  await waitFor(async () => (await readEffects(stage.knex)).total === 5);
  await waitFor(() => paused.get('dependency') === 0);
  expect(await deadLetters()).toEqual([]);
});

test('parks a fact that the service cannot answer for while it answers others', async () => {
  const apps = await Promise.all(Array.from({ length: 4 }, () => registerApp(stage.knex)));
  await begin('test_one_refused', {
    maxDeliver: 2,
    prepare: async (events) => {
      if (events.some(({ data }) => data.client_id === apps[1])) throw failure('unavailable');
      return record;
    },
    probe: async () => undefined,
  });
  await waitFor(async () => (await deadLetters()).length === 1);
  expect(await deadLetters()).toMatchObject([{ error_code: 'test.unavailable', deliveries: 2 }]);
  await waitFor(async () => (await readEffects(stage.knex)).total === 3);
});

test('prepares before the transaction begins', async () => {
  await registerApp(stage.knex);
  let openTransactions: unknown;
  await begin('test_unlocked', {
    prepare: async () => {
      const { rows } = await stage.knex.raw(
        `SELECT count(*)::int AS open FROM pg_stat_activity
         WHERE datname = current_database() AND state LIKE 'idle in transaction%'`,
      );
      openTransactions = rows[0].open;
      return record;
    },
    probe: undefined,
  });
  await waitFor(async () => (await readEffects(stage.knex)).total === 1);
  expect(openTransactions).toBe(0);
});

test('prepares a dead letter before it is handled again', async () => {
  await registerApp(stage.knex);
  let isRefusing = true;
  const { consumer } = await begin('test_replays', {
    prepare: async () => {
      if (isRefusing) throw failure('invalid');
      return record;
    },
    probe: undefined,
  });
  await waitFor(async () => (await deadLetters()).length === 1);
  const [letter] = await deadLetters();
  expect((await consumer.replay(String(letter.id))).outcome).toBe('failed');
  isRefusing = false;
  expect((await consumer.replay(String(letter.id))).outcome).toBe('handled');
  expect((await readEffects(stage.knex)).total).toBe(1);
});
