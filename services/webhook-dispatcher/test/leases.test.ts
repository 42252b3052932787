import { newId } from '@svc/contracts';
import { type TestDatabase, testDatabase } from '@svc/database/testing';
import { waitFor } from '@svc/testing';
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
  const ownerId = newId('app');
  const draft = {
    ownerId,
    userId: newId('usr'),
    event: 'integration.test',
    data: { message: 'x' },
    factId: null,
  } as const;
  await database.knex.transaction((trx) => beginGeneration(trx, ownerId));
  await database.knex.transaction((trx) =>
    storeEvents(trx, Array(events).fill(draft), { clock: () => new Date(), newId }),
  );
  return ownerId;
};

test('a lane that goes on keeps a young lease and renews an older one', async () => {
  const ownerId = await newLane(4);
  const [claim] = await claimDueLanes(database.knex, limits);
  expect(claim?.lane).toMatchObject({ ownerId, sequence: 1 });
  if (claim === undefined) return;
  const lease = async () => {
    const { rows } = await database.knex.raw<{ rows: { text: string; age: number; due: boolean }[] }>(
      `SELECT leased_until::text AS text, due_at = leased_until AS due,
         (extract(epoch FROM now() - leased_until) * 1000 + ${LEASE_MS})::float8 AS age
       FROM lanes WHERE owner_id = ?`,
      [ownerId],
    );
    return rows[0] ?? { text: '', age: Number.NaN, due: false };
  };
  const eventIds = await database.knex('events').where({ owner_id: ownerId }).orderBy('sequence').pluck('event_id');
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
       WHERE owner_id = ?`,
      [LEASE_MS - ageMs, LEASE_MS - ageMs, ownerId],
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
  const ownerId = await newLane(1);
  await database.knex('events').where({ owner_id: ownerId }).update({ attempts: 3, attempts_in_round: 2 });
  const claims = await claimDueLanes(database.knex, limits);
  const own = claims.find(({ lane }) => lane.ownerId === ownerId);
  expect(own?.lane).toMatchObject({ sequence: 1, generation: 1 });
  expect(own?.content).toMatchObject({ attempts: 3, attemptsInRound: 2 });
});

test('a claim passes over a lane that a transaction is changing, and sees its changes afterwards', async () => {
  const ownerId = await newLane(1);
  const trx = await database.knex.transaction();
  await trx.raw('SELECT 1 FROM lanes WHERE owner_id = ? FOR NO KEY UPDATE', [ownerId]);
  await trx('events').where({ owner_id: ownerId }).update({ attempts: 1, attempts_in_round: 1 });
  await trx('lanes').where({ owner_id: ownerId }).update({ pace: 'prompt' });
  // Locked lanes are passed over, not waited for.
  expect((await claimDueLanes(database.knex, limits)).filter(({ lane }) => lane.ownerId === ownerId)).toEqual([]);
  await trx.commit();
  const [own] = (await claimDueLanes(database.knex, limits)).filter(({ lane }) => lane.ownerId === ownerId);
  expect(own?.content).toMatchObject({ attempts: 1, attemptsInRound: 1 });
});

test('outcomes that lose a deadlock are recorded by a retry', async () => {
  const ownerIds = [await newLane(1), await newLane(1)].sort();
  const claims = (await claimDueLanes(database.knex, limits)).filter(({ lane }) => ownerIds.includes(lane.ownerId));
  const store = createLaneStore(database.knex, { recall: () => undefined, find: async () => [] });
  const trx = await database.knex.transaction();
  const lock = (ownerId?: string) =>
    trx('lanes')
      .where({ owner_id: ownerId ?? '' })
      .forUpdate()
      .select('owner_id');
  // This transaction checks for a deadlock later, so the outcomes lose.
  await trx.raw("SET LOCAL deadlock_timeout = '30s'");
  await lock(ownerIds[1]);
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
  await waitFor(isWaiting);
  await lock(ownerIds[0]);
  await trx.commit();
  expect((await recorded).map((outcome) => outcome?.ownerId).sort()).toEqual(ownerIds);
});
