import { fileURLToPath } from 'node:url';
import { dumpSchema } from '@svc/database';
import { type TestDatabase, testDatabase } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase({ migrations: fileURLToPath(new URL('../migrations', import.meta.url)) });
});
afterAll(() => database.drop());

it('schema.sql is what the migrations make', async () => {
  const file = fileURLToPath(new URL('../schema.sql', import.meta.url));
  await expect(await dumpSchema(database.url)).toMatchFileSnapshot(file);
});

it.each([
  ['reserved', 'created_at', 'reservations_reserved'],
  ['uncertain', 'uncertain_at', 'reservations_uncertain'],
])('the sweep finds %s requests by an index of open ones alone, whatever the history', async (state, column, index) => {
  await database.knex.raw(`
    INSERT INTO reservations (request_id, kind, svc_user_id, client_id, service, state, estimate_micros, cost_micros, settled_by,
      week_start, month_start, created_at, ended_at)
    SELECT '${state}' || n, 'delegated', 'usr', 'app', 'chat', 'settled', 1, 1, 'usage', now(), now(), now(), now()
    FROM generate_series(1, 20000) n`);
  await database.knex.raw('ANALYZE reservations');
  const { rows } = await database.knex.raw(
    `EXPLAIN SELECT request_id FROM reservations WHERE state = '${state}' AND ${column} < (SELECT billing_now()) ORDER BY ${column} LIMIT 200`,
  );
  const plan = rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n');
  expect(plan).toContain(`using ${index}`);
  expect(plan).not.toContain('Seq Scan');
});

it('the history of an account is read by its own rows alone, whatever others and the past hold', async () => {
  await database.knex.raw(`
    INSERT INTO usage_days SELECT 'usr_' || n % 200, '2026-01-01'::date + n / 200, 'app', 'chat', 1, 1 FROM generate_series(0, 39999) n`);
  await database.knex.raw('ANALYZE usage_days');
  const { rows } = await database.knex.raw(
    "EXPLAIN SELECT * FROM usage_days WHERE svc_user_id = 'usr_7' AND day > '2026-03-01' AND day <= '2026-03-31'",
  );
  const plan = rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n');
  expect(plan).toContain('usage_days_pkey');
  expect(plan).not.toContain('Seq Scan');
});
