import { readdirSync } from 'node:fs';
import { type TestDatabase, testDatabase } from '@svc/testing';
import type { Knex } from 'knex';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkBalances } from '../src/balances/index.ts';

const MIGRATIONS = new URL('../migrations/', import.meta.url);
const FILES = readdirSync(MIGRATIONS)
  .filter((file) => file.endsWith('.ts'))
  .sort();
/** The newest migration of the previous release. */
const RELEASED = '20261123034000_admit_again_without_wait.ts';
const PAID_MICROS = 20_000_000;

let database: TestDatabase;
let db: Knex;
beforeAll(async () => {
  database = await testDatabase();
  db = database.knex;
  for (const file of FILES.filter((file) => file <= RELEASED)) await migrate(file);
  await db.raw(`
    SELECT wallet_credit('usr', ${PAID_MICROS}, 'EUR', 'top_up');
    INSERT INTO plans (id, name, "interval", includes_chat, includes_audio_transcription, weekly_limit_micros,
        monthly_limit_micros, is_offered, updated_at)
      VALUES ('plan', 'Plan', 'month', true, true, 1000000000, 1000000000, true, now());
    INSERT INTO accounts (svc_user_id, status, plan_id, anchor, "interval", period_start, period_end, week_start, week_end,
        month_start, month_end)
      SELECT 'usr', 'active', 'plan', at, 'month', at, at + interval '1 month', at, at + interval '7 days', at,
        at + interval '1 month'
      FROM date_trunc('day', now()) AS at`);
  await db('checkout_sessions').insert({
    id: 'cs',
    svc_user_id: 'usr',
    kind: 'top_up',
    amount_micros: PAID_MICROS,
    provider: 'sandbox',
    status: 'complete',
    created_at: new Date(),
    completed_at: new Date(),
    expires_at: new Date(),
  });
});
afterAll(() => database.drop());

const migrate = async (file: string): Promise<void> => {
  const { up } = await import(new URL(file, MIGRATIONS).href);
  await db.transaction((trx) => up(trx));
};
const select = async (column: string, call: string): Promise<unknown[]> => {
  const { rows } = await db.raw(`SELECT ${column} AS value FROM ${call}`);
  return rows.map(({ value }: { value: unknown }) => value);
};

/** Makes the calls of the previous release, single and batched. Returns their verdicts and effects. */
const serve = async (name: string): Promise<unknown[]> => {
  const [keyed, many, delegated, group] = ['key', 'keys', 'app', 'apps'].map((kind) => `${name} ${kind}`);
  const settle = (id: string) => select('effect', `settle_one('${id}', 'settled', 70, 'EUR')`);
  return [
    ...(await select('verdict', `admit_one_keyed('${keyed}', 'usr', 'key', 100, 1000, 1000000)`)),
    ...(await select(
      'verdict',
      `admit_keyed_many(ARRAY['${many}'], ARRAY['usr'], ARRAY['key'], ARRAY[100]::bigint[], ARRAY[1000],
        ARRAY[1000000]::bigint[])`,
    )),
    ...(await select(
      'verdict',
      `admit_one_delegated('${delegated}', 'usr', 'app', 'chat', 100, '${delegated}', interval '7 days')`,
    )),
    ...(await select(
      'verdict',
      `admit_delegated_many(ARRAY['${group}'], ARRAY['usr'], ARRAY['app'], ARRAY['chat'], ARRAY[100]::bigint[],
        ARRAY['${group}'], interval '7 days')`,
    )),
    ...(await settle(`${keyed}`)),
    ...(await settle(`${delegated}`)),
    ...(await select(
      'effect',
      `settle_together(ARRAY['${many}', '${group}'], ARRAY['settled', 'released'], ARRAY[70, NULL]::bigint[], 'EUR')`,
    )),
  ];
};
const SERVED = [...Array<string>(4).fill('admitted'), 'settled', 'settled', 'settled', 'released'];

test.each(FILES.filter((file) => file > RELEASED))(
  'lets the previous release admit and settle after %s',
  async (file) => {
    await migrate(file);
    expect(await serve(file)).toEqual(SERVED);
  },
);

test('keeps every balance proven after the last migration', async () => {
  expect(await checkBalances(db)).toEqual([]);
});

test('leaves no overloaded function', async () => {
  const { rows } = await db.raw(`
    SELECT p.proname FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
    WHERE n.nspname IN ('public', 'sandbox_payments') GROUP BY n.nspname, p.proname HAVING count(*) > 1`);
  expect(rows).toEqual([]);
});
