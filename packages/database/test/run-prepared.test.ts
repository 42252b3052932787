import type { Knex } from 'knex';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createDatabase, isConnectionFailure, isUniqueViolation, runPrepared } from '../src/index.ts';
import { emptyDatabase } from './support/empty-database.ts';

const PID = { name: 'pid', text: 'SELECT pg_backend_pid() AS pid' };
const INSERT = { name: 'insert', text: 'INSERT INTO item (id) VALUES ($1) RETURNING id' };
const COUNT = { name: 'count', text: 'SELECT count(*)::int AS n FROM item' };

let url: string;
let database: Knex;

beforeAll(async () => {
  url = await emptyDatabase();
  // One connection, so that every statement runs on the same one.
  database = createDatabase(url, { poolMax: 1 });
  await database.raw('CREATE TABLE item (id int PRIMARY KEY)');
});
afterAll(() => database.destroy());

const pid = async (): Promise<number> => (await runPrepared<{ pid: number }>(database, PID, []))[0]?.pid ?? 0;

test('parses a statement once for each connection', async () => {
  await pid();
  await pid();
  const { rows } = await database.raw(
    `SELECT generic_plans + custom_plans AS uses FROM pg_prepared_statements WHERE name = 'pid'`,
  );
  expect(rows).toEqual([{ uses: 2 }]);
});

test('sees the changes of its transaction, and is rolled back with it', async () => {
  await expect(
    database.transaction(async (trx) => {
      expect(await runPrepared(trx, INSERT, [1])).toEqual([{ id: 1 }]);
      expect(await runPrepared(trx, COUNT, [])).toEqual([{ n: 1 }]);
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  expect(await runPrepared(database, COUNT, [])).toEqual([{ n: 0 }]);
});

test('keeps the connection if the server refuses the statement', async () => {
  const before = await pid();
  await runPrepared(database, INSERT, [7]);
  const refused = await runPrepared(database, INSERT, [7]).catch((error: unknown) => error);
  expect(isUniqueViolation(refused)).toBe(true);
  expect(await pid()).toBe(before);
});

test('replaces a lost connection', async () => {
  const before = await pid();
  const other = createDatabase(url, { poolMax: 1 });
  const waiting = runPrepared(database, { name: 'sleep', text: 'SELECT pg_sleep(30)' }, []).catch(
    (error: unknown) => error,
  );
  const { rows } = await other.raw('SELECT pg_terminate_backend(?)', [before]);
  expect(rows).toEqual([{ pg_terminate_backend: true }]);
  await other.destroy();
  expect(isConnectionFailure(await waiting)).toBe(true);
  // The server tells why before it closes: a run in between still meets the dying connection.
  await vi.waitFor(async () => expect(await pid()).not.toBe(before));
});

const KINDS = {
  name: 'kinds',
  text: `SELECT i::int8 AS big, i::numeric AS exact, i > 1 AS flag, 'a' || i AS text, ARRAY['x', NULL, '"\\'] AS texts,
    ARRAY[i::int8, NULL] AS bigs, jsonb_build_object('i', i) AS json, '2026-11-23'::date AS day, decode('00ff', 'hex') AS bytes,
    '2026-11-23T12:00:00.5Z'::timestamptz AS at, NULL::int8 AS nothing, $2::text[] AS told, $3::timestamptz AS told_at
    FROM generate_series(1, $1::int) AS i`,
};

test('returns rows with the types of the driver, on each run', async () => {
  const values = (count: number) => [count, ['it', 'a "b" \\ {c}', null], new Date('2026-11-23T01:02:03.004Z')];
  const described = await runPrepared(database, KINDS, values(2));
  expect(described).toHaveLength(2);
  expect(described[1]).toMatchObject({ big: 2, exact: '2', flag: true, texts: ['x', null, '"\\'], bigs: [2, null] });
  expect(described[1]).toMatchObject({ json: { i: 2 }, day: '2026-11-23', nothing: null, told: values(2)[1] });
  expect(await runPrepared(database, KINDS, values(2))).toEqual(described);
  expect(await runPrepared(database, KINDS, values(0))).toEqual([]);
  expect(await runPrepared(database, KINDS, values(500))).toHaveLength(500);
});

test('fails alone if a value cannot be read or sent', async () => {
  const big = { name: 'big', text: 'SELECT $1::int8 AS value' };
  const circular: unknown[] = [];
  circular.push(circular);
  expect(await runPrepared(database, big, ['7'])).toEqual([{ value: 7 }]);
  await expect(runPrepared(database, big, ['9007199254740993'])).rejects.toThrow(RangeError);
  expect(await runPrepared(database, big, ['7'])).toEqual([{ value: 7 }]);
  await expect(runPrepared(database, big, [circular])).rejects.toThrow(RangeError);
  expect(await runPrepared(database, big, [null])).toEqual([{ value: null }]);
});

test('does not use a connection that the server has ended', async () => {
  const before = await pid();
  const other = createDatabase(url, { poolMax: 1 });
  await other.raw('SELECT pg_terminate_backend(?)', [before]);
  const isGone = async () =>
    (await other.raw('SELECT count(*)::int AS n FROM pg_stat_activity WHERE pid = ?', [before])).rows[0].n === 0;
  while (!(await isGone()));
  await other.destroy();
  expect(await pid()).not.toBe(before);
});
