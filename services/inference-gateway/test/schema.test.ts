import { fileURLToPath } from 'node:url';
import { dumpSchema } from '@svc/database';
import { type TestDatabase, testDatabase } from '@svc/database/testing';
import type { Knex } from 'knex';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SECTIONS } from '../src/personal-data.ts';
import { listGatewayUsageByUser } from '../src/usage-records/queries.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase({ migrations: fileURLToPath(new URL('../migrations', import.meta.url)) });
});
afterAll(() => database.drop());

test('schema.sql is the result of the migrations', async () => {
  const file = fileURLToPath(new URL('../schema.sql', import.meta.url));
  await expect(await dumpSchema(database.url)).toMatchFileSnapshot(file);
});

test.each([undefined, 'key7'])('reads a page of the usage list from an index, of key %s', async (keyId) => {
  await database.knex.raw(`
    INSERT INTO usage_callers (svc_user_id, kind, caller_id, last_month)
      SELECT 'usr' || n % 20, 'api_key', 'key' || n, now() FROM generate_series(1, 100) n ON CONFLICT DO NOTHING;
    INSERT INTO usage_rows (id, caller_number, names_number, started_at, is_estimated, outcome, cost_micros, status, streamed,
        duration_ms)
      SELECT gen_random_uuid(), c.caller_number, 1, now(), false, 's', 1, 200, false, 1
      FROM usage_callers AS c, generate_series(1, 200);
    ANALYZE usage_callers, usage_rows`);
  const asked: { sql: string; bindings: Knex.RawBinding[] }[] = [];
  const note = (query: { sql: string; bindings: Knex.RawBinding[] }) => void asked.push(query);
  database.knex.on('query', note);
  const filter = { userId: 'usr7', keyId, model: undefined, status: undefined, from: undefined, to: undefined };
  await listGatewayUsageByUser(database.knex, { ...filter, after: `req_7${'z'.repeat(25)}`, limit: 51 });
  database.knex.off('query', note);
  const plans = asked.map(async ({ sql, bindings }) => {
    const { rows } = await database.knex.raw(`EXPLAIN ${sql.replace(/\$\d+/g, '?')}`, bindings);
    return rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n');
  });
  const [plan] = await Promise.all(plans);
  expect(plan).toContain('Index Only Scan Backward using usage_rows_other_pkey');
  expect(plan).not.toContain('Seq Scan on usage_rows');
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
