import { FIRST_EPOCH } from '@svc/contracts';
import { takeTurns } from '@svc/messaging';
import { type TestDatabase, testDatabase } from '@svc/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CONNECTION_TURNS } from '../src/facts/connection-facts.ts';
import { MIGRATIONS } from './support/dispatcher.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase({ migrations: MIGRATIONS });
});
afterAll(async () => {
  await database?.drop();
});

const take = (aggregate: string, version: number) =>
  database.knex.transaction((trx) =>
    takeTurns(trx, CONNECTION_TURNS, [{ aggregate, version, epoch: FIRST_EPOCH, deliveries: 1 }]),
  );

/** Records a version as the previous release does, and returns the one from before. */
const takeAsBefore = async (aggregate: string, version: number): Promise<number> => {
  const { rows } = await database.knex.raw(
    `INSERT INTO aggregate_versions AS known (aggregate, version) VALUES (?, ?)
     ON CONFLICT (aggregate) DO UPDATE SET version = greatest(known.version, excluded.version)
     RETURNING coalesce(old.version, 0) AS before`,
    [aggregate, version],
  );
  return rows[0].before;
};

test('replicas of this and of the previous release share the versions of a connection', async () => {
  const aggregate = 'connection:usr_1:app_1';
  expect(await takeAsBefore(aggregate, 1)).toBe(0);
  expect(await take(aggregate, 2)).toHaveLength(1);
  expect(await takeAsBefore(aggregate, 3)).toBe(2);
  expect(await take(aggregate, 3)).toEqual([]);
  expect(await take(aggregate, 4)).toHaveLength(1);
  // A stale fact lowers neither.
  expect(await takeAsBefore(aggregate, 1)).toBe(4);
  expect(await take(aggregate, 5)).toHaveLength(1);
});
