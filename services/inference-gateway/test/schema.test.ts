import { fileURLToPath } from 'node:url';
import { dumpSchema } from '@svc/database';
import { type TestDatabase, testDatabase } from '@svc/database/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SECTIONS } from '../src/personal-data.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase({ migrations: fileURLToPath(new URL('../migrations', import.meta.url)) });
});
afterAll(() => database.drop());

test('schema.sql is the result of the migrations', async () => {
  const file = fileURLToPath(new URL('../schema.sql', import.meta.url));
  await expect(await dumpSchema(database.url)).toMatchFileSnapshot(file);
});

test.each(['svc_user_id', 'key_id'])('reads a page of the usage list by %s from an index', async (column) => {
  await database.knex.raw(`
    INSERT INTO usage_records (request_id, started_at, kind, svc_user_id, key_id, service, model, ingress_region, is_estimated,
      outcome, cost_micros, status, streamed, duration_ms)
    SELECT '${column}' || n, now() - n * interval '1 minute', 'api_key', 'usr' || n % 100, 'key' || n % 100, 'chat', 'm', 'r', false,
      'settled', 1, 200, false, 1
    FROM generate_series(1, 20000) n`);
  await database.knex.raw('ANALYZE usage_records');
  const { rows } = await database.knex.raw(
    `EXPLAIN SELECT * FROM usage_records WHERE ${column} = '${column.slice(0, 3) === 'key' ? 'key7' : 'usr7'}' AND kind = 'api_key'
     AND (started_at, request_id) < (now(), 'x') ORDER BY started_at DESC, request_id DESC LIMIT 51`,
  );
  const plan = rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n');
  expect(plan).toContain('Index');
  expect(plan).not.toMatch(/Seq Scan|Sort Key/);
});

test.each(SECTIONS)('exports the section $name of a person through an index', async ({ sql }) => {
  const plan = await database.knex.transaction(async (trx) => {
    // A sequential scan is then planned only where no index fits.
    await trx.raw('SET LOCAL enable_seqscan = off');
    const { rows } = await trx.raw(`EXPLAIN ${sql.replaceAll('$1', "'usr_1'")}`);
    return rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n');
  });
  expect(plan).not.toContain('Seq Scan');
});
