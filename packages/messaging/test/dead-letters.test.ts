import { waitFor } from '@svc/testing';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  type Consumer,
  type ConsumerOptions,
  type Messaging,
  type MessagingMetrics,
  type Relay,
  startConsumer,
} from '../src/index.ts';
import { readEffects, recordEffect, registerApp, updateApp } from './support/effects.ts';
import { createStage, type Stage } from './support/stage.ts';

let stage: Stage;
let messaging: Messaging;
let relay: Relay;
beforeAll(async () => {
  stage = await createStage([
    'test_measured',
    'test_replayed',
    'test_fails_again',
    'test_handled_meanwhile',
    'test_passed',
    'test_newest',
  ]);
});
afterEach(() => stage.reset());
afterAll(() => stage.end());

const subjects = ['auth.app.registered.v1', 'auth.app.updated.v1'] as const;
type Handle = ConsumerOptions<(typeof subjects)[number]>['handle'];

const refusal = Object.assign(new Error('refused'), { kind: 'invalid', code: 'test.refused' });
const deadLetters = () => stage.knex('dead_letters').orderBy('id');

/** Starts a consumer that refuses the facts chosen by `refuses`. */
const begin = async (name: string, options: { ordered?: boolean; refuses: (version: number) => boolean }) => {
  messaging = await stage.connect();
  relay = stage.relay(messaging);
  const state = { refuses: options.refuses };
  const handle: Handle = async (trx, event) => {
    await recordEffect(trx, event);
    if (state.refuses(event.version)) throw refusal;
  };
  const { ordered } = options;
  const consumer = stage.keep(startConsumer({ messaging, database: stage.knex, name, subjects, handle, ordered }));
  return { consumer, state };
};

const parkedId = async (): Promise<string> => {
  relay.hint();
  const [letter] = await waitFor(async () => ((await deadLetters()).length > 0 ? deadLetters() : undefined));
  return String(letter.id);
};

const outcomes = async (consumer: Consumer, id: string, times: number) =>
  (await Promise.all(Array.from({ length: times }, () => consumer.replay(id)))).map(({ outcome }) => outcome).sort();

test('the metrics count waiting messages and unresolved dead letters of each consumer', async () => {
  const { consumer } = await begin('test_measured', { refuses: (version) => version === 1 });
  await registerApp(stage.knex);
  await parkedId();
  await consumer.stop();
  const app = await registerApp(stage.knex);
  await updateApp(stage.knex, app);
  relay.hint();
  await waitFor(async () => (await messaging.manager.streams.info('AUTH')).state.messages === 3);
  const values = new Map<string, number>();
  const metrics: MessagingMetrics = {
    counter: () => ({ inc: () => undefined }),
    gauge: ({ name }) => ({ set: (labels, value) => values.set(`${name} ${labels.consumer}`, value) }),
  };
  const idle = { messaging: await stage.connect('measuring', metrics), database: stage.knex, subjects };
  const held = Promise.withResolvers<void>();
  stage.keep(startConsumer({ ...idle, name: 'test_measured', handle: () => held.promise }));
  await waitFor(
    () => values.has('messages_waiting test_measured') && values.has('dead_letters_unresolved test_measured'),
  );
  expect(values.get('messages_waiting test_measured')).toBe(2);
  expect(values.get('dead_letters_unresolved test_measured')).toBe(1);
  held.resolve();
});

test('a dead letter replayed three times at once takes effect once', async () => {
  const { consumer, state } = await begin('test_replayed', { refuses: () => true });
  await registerApp(stage.knex);
  const id = await parkedId();
  state.refuses = () => false;
  expect(await outcomes(consumer, id, 3)).toEqual(['already_resolved', 'already_resolved', 'handled']);
  expect(await readEffects(stage.knex)).toEqual({ total: 1, distinct: 1, inOrder: true });
  expect((await deadLetters())[0].resolved_at).not.toBeNull();
});

test('a dead letter that fails again stays unresolved and has no effect', async () => {
  const { consumer, state } = await begin('test_fails_again', { refuses: () => true });
  await registerApp(stage.knex);
  const id = await parkedId();
  expect(await consumer.replay(id)).toEqual({ id, outcome: 'failed', error_code: 'test.refused' });
  expect((await readEffects(stage.knex)).total).toBe(0);
  expect((await deadLetters())[0].resolved_at).toBeNull();
  state.refuses = () => false;
  expect((await consumer.replay(id)).outcome).toBe('handled');
});

test('a dead letter whose event was handled since is resolved without an effect', async () => {
  const { consumer, state } = await begin('test_handled_meanwhile', { refuses: () => true });
  await registerApp(stage.knex);
  const id = await parkedId();
  const [{ event_id }] = await deadLetters();
  await stage.knex('inbox').insert({ consumer: consumer.name, event_id });
  state.refuses = () => false;
  expect((await consumer.replay(id)).outcome).toBe('duplicate');
  expect((await readEffects(stage.knex)).total).toBe(0);
});

test('a replay of an ordered consumer has no effect after a newer version', async () => {
  const { consumer, state } = await begin('test_passed', { ordered: true, refuses: (version) => version === 1 });
  const app = await registerApp(stage.knex);
  const id = await parkedId();
  await updateApp(stage.knex, app);
  relay.hint();
  await waitFor(async () => (await readEffects(stage.knex)).total === 1);
  state.refuses = () => false;
  expect((await consumer.replay(id)).outcome).toBe('stale');
  expect((await readEffects(stage.knex)).total).toBe(1);
});

test('a replay of an ordered consumer takes effect if no newer version was handled', async () => {
  const { consumer, state } = await begin('test_newest', { ordered: true, refuses: () => true });
  await registerApp(stage.knex);
  const id = await parkedId();
  state.refuses = () => false;
  expect((await consumer.replay(id)).outcome).toBe('handled');
});
