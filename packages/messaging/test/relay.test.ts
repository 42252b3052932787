import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { waitFor } from '@svc/testing';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { appendToOutbox, startBatchConsumer, startConsumer, startRelay, withOutbox } from '../src/index.ts';
import { appFact, isStreamInOrder, readEffects, recordEffect, registerApp, updateApp } from './support/effects.ts';
import { createStage, type Stage } from './support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await createStage(['test_once', 'test_race', 'test_takeover', 'test_killed', 'test_again', 'test_batch']);
});
afterEach(() => stage.reset());
afterAll(() => stage.end());

const subjects = ['auth.app.registered.v1', 'auth.app.updated.v1'] as const;

/** Starts a consumer that records effects. */
const recordAll = async (name: string) => {
  const messaging = await stage.connect(name);
  return stage.keep(
    startConsumer({
      messaging,
      database: stage.knex,
      name,
      subjects,
      handle: (trx, event) => recordEffect(trx, event),
    }),
  );
};

const unpublished = async (): Promise<number> => (await stage.knex('outbox').whereNull('published_at')).length;

test('a committed fact takes effect once, and a rolled-back one does not', async () => {
  const messaging = await stage.connect();
  const relay = stage.relay(messaging);
  const seen: unknown[] = [];
  stage.keep(
    startConsumer({
      messaging,
      database: stage.knex,
      name: 'test_once',
      subjects,
      handle: async (trx, event) => {
        seen.push(event);
        await recordEffect(trx, event);
      },
    }),
  );
  await expect(
    withOutbox({ database: stage.knex, relay }, async (trx) => {
      await appendToOutbox(trx, appFact('auth.app.registered.v1', 'app_00000000000000000000000000', 1));
      throw new Error('changed my mind');
    }),
  ).rejects.toThrow('changed my mind');
  const clientId = await registerApp(stage.knex);
  relay.hint();
  await waitFor(async () => (await readEffects(stage.knex)).total === 1);
  expect(seen).toMatchObject([{ subject: 'auth.app.registered.v1', version: 1, data: { client_id: clientId } }]);
  const [row] = await stage.knex('outbox');
  expect(row).toMatchObject({ stream: 'AUTH', stream_seq: 1, published_at: expect.any(Date) });
});

test('publishes a fact once if a deadlock has rolled its transaction back', async () => {
  const ids = ['app_00000000000000000000000001', 'app_00000000000000000000000002'];
  const bothHold = Promise.withResolvers<void>();
  let holders = 0;
  let attempts = 0;
  const writeBoth = (first: string, second: string) =>
    withOutbox({ database: stage.knex, relay: { hint: () => undefined } }, async (trx) => {
      attempts += 1;
      await trx.raw('SELECT pg_advisory_xact_lock(hashtext(?))', [first]);
      holders += 1;
      if (holders === 2) bothHold.resolve();
      await bothHold.promise;
      await trx.raw('SELECT pg_advisory_xact_lock(hashtext(?))', [second]);
      await appendToOutbox(trx, appFact('auth.app.registered.v1', first, 1));
    });
  const [one = '', two = ''] = ids;
  await Promise.all([writeBoth(one, two), writeBoth(two, one)]);
  expect(attempts).toBe(3);
  expect((await stage.knex('outbox').orderBy('aggregate').pluck('aggregate')).map(String)).toEqual(
    ids.map((id) => `app:${id}`),
  );
});

test('refuses facts and revocations that break the contract', async () => {
  const append = (entry: unknown) =>
    // The types forbid these entries. The check at run time must refuse them too.
    stage.knex.transaction((trx) => appendToOutbox(trx, entry as Parameters<typeof appendToOutbox>[1]));
  const fact = appFact('auth.app.registered.v1', 'app_00000000000000000000000000', 1);
  await expect(append({ ...fact, subject: 'auth.app.exploded.v1' })).rejects.toThrow(RangeError);
  await expect(append({ ...fact, data: { ...fact.data, name: 7 } })).rejects.toThrow(/name/);
  await expect(append({ ...fact, version: 0 })).rejects.toThrow(/outbox_version_positive/);
  await expect(append({ revocation: { key: 'grant.a b' } })).rejects.toThrow(RangeError);
  await expect(append({ revocation: { key: 'app.app_1' } })).rejects.toThrow(RangeError);
  expect(await stage.knex('outbox')).toEqual([]);
});

test('concurrent commits beside two relays lose no fact and keep the order within each aggregate', async () => {
  const first = stage.relay(await stage.connect('relay-1'));
  const messaging = await stage.connect('relay-2');
  stage.relay(messaging);
  await recordAll('test_race');
  const apps = await Promise.all(Array.from({ length: 8 }, () => registerApp(stage.knex)));
  const writers = apps.flatMap((clientId) => [clientId, clientId]);
  await Promise.all(
    writers.map(async (clientId) => {
      for (let change = 0; change < 20; change += 1) {
        await updateApp(stage.knex, clientId);
        first.hint();
      }
    }),
  );
  const expected = 8 + 16 * 20;
  await waitFor(async () => (await readEffects(stage.knex)).total >= expected);
  expect(await readEffects(stage.knex)).toEqual({ total: expected, distinct: expected, inOrder: true });
  expect(await isStreamInOrder(messaging)).toBe(true);
  expect(await unpublished()).toBe(0);
});

test('one replica relays at a time, and another takes over if it stops or loses its connection', async () => {
  const one = stage.relay(await stage.connect('relay-1'));
  await waitFor(() => one.isLeading());
  const two = stage.relay(await stage.connect('relay-2'));
  await recordAll('test_takeover');
  await stage.knex.raw(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'auth-relay' AND datname = current_database()`,
  );
  await registerApp(stage.knex);
  await waitFor(() => one.isLeading() !== two.isLeading());
  await waitFor(async () => (await readEffects(stage.knex)).total === 1);
  const leader = one.isLeading() ? one : two;
  await leader.stop();
  const other = leader === one ? two : one;
  await waitFor(() => other.isLeading());
  await registerApp(stage.knex);
  // The hint of a replica that does not lead reaches the leading one.
  leader.hint();
  await waitFor(async () => (await readEffects(stage.knex)).total === 2);
});

test('replicas that do not lead keep their one connection, however often they are woken', async () => {
  const relays = [stage.relay(await stage.connect()), stage.relay(await stage.connect())];
  const openConnections = async (): Promise<number[]> =>
    await stage
      .knex('pg_stat_activity')
      .whereRaw("datname = current_database() AND application_name LIKE '%-relay'")
      .orderBy('pid')
      .pluck('pid');
  await waitFor(async () => (await openConnections()).length === 2 && relays.some((relay) => relay.isLeading()));
  const before = await openConnections();
  for (let count = 0; count < 20; count += 1) {
    await registerApp(stage.knex);
    for (const relay of relays) relay.hint();
    await waitFor(async () => (await unpublished()) === 0);
    expect(await openConnections()).toEqual(before);
  }
});

test('facts of a relay killed before it marks them are published again and take effect once', async () => {
  for (let index = 0; index < 5; index += 1) await registerApp(stage.knex);
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('./support/relay-that-dies.ts', import.meta.url)), stage.database.url, stage.nats.url, '3'],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const signal = await new Promise((resolve) => child.once('exit', (_code, by) => resolve(by)));
  expect(signal).toBe('SIGKILL');
  expect(await unpublished()).toBe(5);
  const messaging = await stage.connect();
  const { state } = await messaging.manager.streams.info('AUTH');
  expect(state.messages).toBeGreaterThanOrEqual(3);
  await recordAll('test_killed');
  stage.relay(messaging);
  await waitFor(async () => (await unpublished()) === 0);
  await waitFor(async () => (await readEffects(stage.knex)).total >= 5);
  expect(await readEffects(stage.knex)).toEqual({ total: 5, distinct: 5, inOrder: true });
  expect((await messaging.manager.streams.info('AUTH')).state.messages).toBe(5);
});

test('an event published again beyond the duplicate window takes effect once', async () => {
  const messaging = await stage.connect();
  const relay = stage.relay(messaging);
  await recordAll('test_again');
  const clientId = await registerApp(stage.knex);
  await waitFor(async () => (await readEffects(stage.knex)).total === 1);
  const stored = await messaging.manager.streams.getMessage('AUTH', { seq: 1 });
  // Without a message id the broker cannot deduplicate it.
  for (let copy = 0; copy < 3; copy += 1) await messaging.jetstream.publish(stored?.subject ?? '', stored?.data);
  await updateApp(stage.knex, clientId);
  relay.hint();
  await waitFor(async () => (await readEffects(stage.knex)).total >= 2);
  expect(await readEffects(stage.knex)).toEqual({ total: 2, distinct: 2, inOrder: true });
});

test('deletes old published rows, and no unpublished ones', async () => {
  const messaging = await stage.connect();
  for (let index = 0; index < 3; index += 1) await registerApp(stage.knex);
  await stage.knex('outbox').update({ published_at: stage.knex.raw(`now() - interval '8 days'`), stream_seq: 1 });
  await registerApp(stage.knex);
  const old = await registerApp(stage.knex);
  await stage.knex('outbox').whereLike('aggregate', `%${old}`).update({ occurred_at: '2020-01-01' });
  stage.relay(messaging);
  await waitFor(async () => (await stage.knex('outbox')).length === 2);
  await waitFor(async () => (await unpublished()) === 0);
});

test('handles many facts in one transaction, and parks a bad one without delaying the others', async () => {
  const messaging = await stage.connect();
  for (let index = 0; index < 60; index += 1) await registerApp(stage.knex);
  const [bad] = await stage.knex('outbox').orderBy('seq').offset(30).limit(1);
  const batches: number[] = [];
  stage.relay(messaging);
  await waitFor(async () => (await unpublished()) === 0);
  stage.keep(
    startBatchConsumer({
      messaging,
      database: stage.knex,
      name: 'test_batch',
      subjects,
      batch: 50,
      handle: async (trx, events) => {
        batches.push(events.length);
        for (const event of events) {
          if (event.id === bad.id) throw Object.assign(new Error('no'), { kind: 'invalid', code: 'test.bad' });
          await recordEffect(trx, event);
        }
      },
    }),
  );
  await waitFor(async () => (await readEffects(stage.knex)).total === 59);
  expect(await readEffects(stage.knex)).toEqual({ total: 59, distinct: 59, inOrder: true });
  expect(Math.max(...batches)).toBeGreaterThan(1);
  expect(await stage.knex('dead_letters')).toMatchObject([{ event_id: bad.id, error_code: 'test.bad' }]);
});

test('a stopped relay leaves no connection behind', async () => {
  const messaging = await stage.connect();
  const relay = startRelay({ databaseUrl: stage.database.url, messaging, service: 'billing' });
  await waitFor(() => relay.isLeading());
  await relay.stop();
  expect(relay.isLeading()).toBe(false);
  const { rows } = await stage.knex.raw(`SELECT 1 FROM pg_stat_activity WHERE application_name = 'billing-relay'`);
  expect(rows).toEqual([]);
});
