import { newId } from '@svc/contracts';
import { type TestDatabase, testDatabase, waitFor } from '@svc/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLaneStore } from '../src/deliveries/lane-store.ts';
import {
  type AttemptOutcome,
  beginGeneration,
  claimDueLanes,
  LEASE_MS,
  LEASE_RENEWED_AFTER_MS,
  recordOutcomes,
  storeEvents,
} from '../src/events/index.ts';
import { MIGRATIONS } from './support/dispatcher.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase({ migrations: MIGRATIONS });
});
afterAll(async () => {
  await database?.drop();
});

const DELIVERED = {
  attempt: 1,
  result: 'delivered',
  retryDelayMs: 0,
  pace: 'prompt',
  at: new Date(),
  statusCode: 204,
  error: null,
  durationMs: 1,
} as const;
const limits = { prompt: 10, unknown: 10, slow: 10 };

/** Creates an app with so many queued events. */
const newLane = async (events: number): Promise<string> => {
  const clientId = newId('app');
  const draft = {
    clientId,
    userId: newId('usr'),
    event: 'integration.test',
    data: { message: 'x' },
    factId: null,
  } as const;
  await database.knex.transaction((trx) => beginGeneration(trx, clientId));
  await database.knex.transaction((trx) =>
    storeEvents(trx, Array(events).fill(draft), { clock: () => new Date(), newId }),
  );
  return clientId;
};

test('a lane that goes on keeps a young lease and renews an older one', async () => {
  const clientId = await newLane(4);
  const [claim] = await claimDueLanes(database.knex, limits);
  expect(claim?.lane).toMatchObject({ clientId, sequence: 1 });
  if (claim === undefined) return;
  const lease = async () => {
    const { rows } = await database.knex.raw<{ rows: { text: string; age: number; due: boolean }[] }>(
      `SELECT leased_until::text AS text, due_at = leased_until AS due,
         (extract(epoch FROM now() - leased_until) * 1000 + ${LEASE_MS})::float8 AS age
       FROM lanes WHERE client_id = ?`,
      [clientId],
    );
    return rows[0] ?? { text: '', age: Number.NaN, due: false };
  };
  const eventIds = await database.knex('events').where({ client_id: clientId }).orderBy('sequence').pluck('event_id');
  const deliver = async (sequence: number) => {
    const outcome: AttemptOutcome = {
      ...DELIVERED,
      lane: { ...claim.lane, sequence },
      keepLane: true,
    };
    const [recorded] = await recordOutcomes(database.knex, [outcome]);
    expect(recorded).toMatchObject({ isKept: true, next: { eventId: eventIds[sequence], attempts: 0 } });
  };
  const set = (ageMs: number) =>
    database.knex.raw(
      `UPDATE lanes SET leased_until = now() + ? * interval '1 millisecond', due_at = now() + ? * interval '1 millisecond'
       WHERE client_id = ?`,
      [LEASE_MS - ageMs, LEASE_MS - ageMs, clientId],
    );
  // Younger than any lease, even on a slow machine.
  await set(-60_000);
  const young = await lease();
  await deliver(1);
  expect(await lease()).toMatchObject({ text: young.text, due: true });
  await set(LEASE_RENEWED_AFTER_MS + 1);
  const old = await lease();
  await deliver(2);
  const renewed = await lease();
  expect(renewed.due).toBe(true);
  expect(renewed.age).toBeLessThan(old.age);
});

test('a claim returns the next event with its attempts so far', async () => {
  const clientId = await newLane(1);
  await database.knex('events').where({ client_id: clientId }).update({ attempts: 3, attempts_in_round: 2 });
  const claims = await claimDueLanes(database.knex, limits);
  const own = claims.find(({ lane }) => lane.clientId === clientId);
  expect(own?.lane).toMatchObject({ sequence: 1, generation: 1 });
  expect(own?.content).toMatchObject({ attempts: 3, attemptsInRound: 2 });
});

test('a claim passes over a lane that a transaction is changing, and sees its changes afterwards', async () => {
  const clientId = await newLane(1);
  const trx = await database.knex.transaction();
  await trx.raw('SELECT 1 FROM lanes WHERE client_id = ? FOR NO KEY UPDATE', [clientId]);
  await trx('events').where({ client_id: clientId }).update({ attempts: 1, attempts_in_round: 1 });
  await trx('lanes').where({ client_id: clientId }).update({ pace: 'prompt' });
  // Locked lanes are passed over, not waited for.
  expect((await claimDueLanes(database.knex, limits)).filter(({ lane }) => lane.clientId === clientId)).toEqual([]);
  await trx.commit();
  const [own] = (await claimDueLanes(database.knex, limits)).filter(({ lane }) => lane.clientId === clientId);
  expect(own?.content).toMatchObject({ attempts: 1, attemptsInRound: 1 });
});

test('outcomes that lose a deadlock are recorded by a retry', async () => {
  const clientIds = [await newLane(1), await newLane(1)].sort();
  const claims = (await claimDueLanes(database.knex, limits)).filter(({ lane }) => clientIds.includes(lane.clientId));
  const store = createLaneStore(database.knex, { recall: () => undefined, find: async () => [] });
  const trx = await database.knex.transaction();
  const lock = (clientId?: string) =>
    trx('lanes')
      .where({ client_id: clientId ?? '' })
      .forUpdate()
      .select('client_id');
  // This transaction checks for a deadlock later, so the outcomes lose.
  await trx.raw("SET LOCAL deadlock_timeout = '30s'");
  await lock(clientIds[1]);
  const recorded = Promise.all(
    claims.map(({ lane }) =>
      store.record({
        ...DELIVERED,
        lane,
        keepLane: false,
      }),
    ),
  );
  const isWaiting = async () => {
    const { rows } = await trx.raw('SELECT 1 FROM pg_locks WHERE NOT granted');
    return rows.length > 0;
  };
  await waitFor(isWaiting, { timeoutMs: 10_000 });
  await lock(clientIds[0]);
  await trx.commit();
  expect((await recorded).map((outcome) => outcome?.clientId).sort()).toEqual(clientIds);
});
