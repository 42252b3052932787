import type { Knex } from 'knex';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, isConnectionFailure, isUniqueViolation, runPrepared } from '../src/index.ts';
import { emptyDatabase } from './support/empty-database.ts';

const PID = { name: 'pid', text: 'SELECT pg_backend_pid() AS pid' };
const INSERT = { name: 'insert', text: 'INSERT INTO item (id) VALUES ($1) RETURNING id' };
const COUNT = { name: 'count', text: 'SELECT count(*)::int AS n FROM item' };

let url: string;
let database: Knex;

beforeAll(async () => {
  url = await emptyDatabase();
  // One connection, so that statements meet again on it.
  database = createDatabase(url, { poolMax: 1 });
  await database.raw('CREATE TABLE item (id int PRIMARY KEY)');
});
afterAll(() => database.destroy());

const pid = async (): Promise<number> => (await runPrepared<{ pid: number }>(database, PID, []))[0]?.pid ?? 0;

test('a connection parses a statement once', async () => {
  await pid();
  await pid();
  const { rows } = await database.raw(
    `SELECT generic_plans + custom_plans AS uses FROM pg_prepared_statements WHERE name = 'pid'`,
  );
  expect(rows).toEqual([{ uses: 2 }]);
});

test('in a transaction it sees what the transaction did, and goes with it', async () => {
  await expect(
    database.transaction(async (trx) => {
      expect(await runPrepared(trx, INSERT, [1])).toEqual([{ id: 1 }]);
      expect(await runPrepared(trx, COUNT, [])).toEqual([{ n: 1 }]);
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  expect(await runPrepared(database, COUNT, [])).toEqual([{ n: 0 }]);
});

test('a statement that the server refuses costs no connection', async () => {
  const before = await pid();
  await runPrepared(database, INSERT, [7]);
  const refused = await runPrepared(database, INSERT, [7]).catch((error: unknown) => error);
  expect(isUniqueViolation(refused)).toBe(true);
  expect(await pid()).toBe(before);
});

test('a connection that is lost is replaced', async () => {
  const before = await pid();
  const other = createDatabase(url, { poolMax: 1 });
  const waiting = runPrepared(database, { name: 'sleep', text: 'SELECT pg_sleep(30)' }, []).catch(
    (error: unknown) => error,
  );
  const { rows } = await other.raw('SELECT pg_terminate_backend(?)', [before]);
  expect(rows).toEqual([{ pg_terminate_backend: true }]);
  await other.destroy();
  expect(isConnectionFailure(await waiting)).toBe(true);
  expect(await pid()).not.toBe(before);
});
