import { fileURLToPath } from 'node:url';
import { idOf, newId } from '@svc/contracts';
import { dumpSchema } from '@svc/database';
import { type TestDatabase, testDatabase } from '@svc/database/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SECTIONS } from '../src/personal-data.ts';
import { keepRequestPartitions } from '../src/reservations/keep-request-partitions.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase({ migrations: fileURLToPath(new URL('../migrations', import.meta.url)) });
});
afterAll(() => database.drop());

test('matches schema.sql after all migrations', async () => {
  const file = fileURLToPath(new URL('../schema.sql', import.meta.url));
  await expect(await dumpSchema(database.url)).toMatchFileSnapshot(file);
});

test.each([
  ['reserved', 'holder_id IS NULL AND created_at', 'created_at', 'reservations_by_holder'],
  ['reserved', "holder_id IN ('gw_1', 'gw_2') AND created_at", 'created_at', 'reservations_by_holder'],
  ['uncertain', 'uncertain_at', 'uncertain_at', 'reservations_uncertain'],
])('finds %s requests by %s in an index of open requests alone', async (state, condition, column, index) => {
  const transaction = await database.knex.transaction();
  try {
    await transaction.raw('SET LOCAL enable_seqscan = off');
    const { rows } = await transaction.raw(
      `EXPLAIN SELECT request_id FROM reservations WHERE state = '${state}' AND ${condition} < (SELECT billing_now()) ORDER BY ${column} LIMIT 200`,
    );
    const plan = rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n');
    expect(plan).toMatch(new RegExp(`(using|on) ${index}`));
    expect(plan).not.toContain('ended_reservations');
  } finally {
    await transaction.rollback();
  }
});

test('reads the usage history of an account by primary key, without scanning other accounts or days', async () => {
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

test('finds the use of an app by its days, without scanning other apps', async () => {
  await database.knex.raw(`
    INSERT INTO usage_days SELECT 'usr_' || n, '2027-01-01'::date + n % 200, 'app_' || n % 100, 'chat', 1, 1 FROM generate_series(0, 39999) n`);
  await database.knex.raw('ANALYZE usage_days');
  const { rows } = await database.knex.raw(
    "EXPLAIN SELECT * FROM usage_days WHERE client_id = 'app_7' AND day >= '2027-02-01' AND day < '2027-03-01'",
  );
  const plan = rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n');
  expect(plan).toContain('usage_days_by_app');
  expect(plan).not.toContain('Seq Scan');
});

test('finds one day of use by its whole key through the index by app too, which a plan without statistics may take', async () => {
  const transaction = await database.knex.transaction();
  try {
    await transaction.raw('ALTER TABLE usage_days DROP CONSTRAINT usage_days_pkey');
    await transaction.raw('SET LOCAL enable_seqscan = off');
    const { rows } = await transaction.raw(
      "EXPLAIN SELECT * FROM usage_days WHERE (svc_user_id, day, client_id, service) = ('usr_7', '2027-02-01', 'app_7', 'chat')",
    );
    const plan = rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('usage_days_by_app');
    expect(plan).not.toContain('Filter');
  } finally {
    await transaction.rollback();
  }
});

test('finds top-ups and refunds without reading the postings of usage', async () => {
  const { rows } = await database.knex.raw(
    "EXPLAIN SELECT * FROM ledger_postings WHERE svc_user_id = 'usr' AND kind IN ('top_up', 'refund', 'adjustment')",
  );
  const plan = rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n');
  expect(plan).toContain('ledger_postings_of_funds');
});

test('finds an ended API-key request, and those of an account, through indexes of the partitions', async () => {
  const plan = await database.knex.transaction(async (trx) => {
    await trx.raw('SET LOCAL enable_seqscan = off');
    const explain = async (condition: string): Promise<string> => {
      const { rows } = await trx.raw(`EXPLAIN SELECT * FROM key_requests WHERE ${condition}`);
      return rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n');
    };
    return {
      ofId: await explain(`id = uuid_of_id('req', '${newId('req')}')`),
      ofAccount: await explain("svc_user_id = 'usr_1'"),
    };
  });
  expect(plan.ofId).toContain('ended_key_requests_other_pkey');
  expect(plan.ofAccount).toContain('request_keys_once');
  expect(plan.ofAccount).toContain('ended_key_requests_other_key_number_idx');
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

test('creates months of ended requests although requests came before them, moves these there, and drops them after their retention', async () => {
  const { knex } = database;
  const { rows: numbered } = await knex.raw(
    "INSERT INTO request_keys (svc_user_id, key_id) VALUES ('usr_1', 'key_1') RETURNING key_number",
  );
  const bits = (id: string) => knex.raw("uuid_of_id('req', ?)", [id]);
  const at = new Date('2041-03-10T00:00:00Z');
  const idAt = (time: string) => idOf('req', Date.parse(time), new Uint8Array(16).fill(7));
  const early = [idAt('2041-03-10T00:00:00Z'), idAt('2041-05-31T23:59:59Z')];
  const keep = (daysLater: number) =>
    keepRequestPartitions(knex, { nowMs: at.getTime() + daysLater * 86_400_000, daysKept: 400 });
  const partitionsOf = async (table: string, key = 'request_id'): Promise<string[]> => {
    const ids = key === 'id' ? early.map(bits) : early;
    const partition = knex.raw('tableoid::regclass::text AS name');
    const rows = await knex(table).whereIn(key, ids).orderBy(key).select(partition);
    return rows.map(({ name }) => name);
  };
  const places = async () =>
    (
      await Promise.all([
        partitionsOf('ended_key_requests', 'id'),
        partitionsOf('reservations'),
        partitionsOf('request_details', 'id'),
      ])
    ).flat();
  const inMonths = ['ended_key_requests', 'ended_reservations', 'request_details'].flatMap((table) => [
    `${table}_2041_03`,
    `${table}_2041_05`,
  ]);
  for (const request_id of early) {
    const ended = { ending: 'r', cost_micros: 0, ended_at: at };
    await knex('ended_key_requests').insert({
      id: bits(request_id),
      ...numbered[0],
      ...ended,
    });
    await knex.raw(OPEN.replace("'sound'", '?'), [request_id]);
    await knex('request_details').insert({ id: bits(request_id) });
  }
  expect(await partitionsOf('reservations')).toEqual(early.map(() => 'open_reservations'));
  await knex('reservations').whereIn('request_id', early).update({ state: 'released', ended_at: at });
  expect(await places()).toEqual(inMonths.map((name) => name.replace(/\d{4}_\d{2}$/, 'other')));
  for (const daysLater of [0, 400, 0]) {
    await keep(daysLater);
    expect(await places()).toEqual(inMonths);
  }
  await keep(500);
  expect(await places()).toEqual([]);
});

/** Runs a change after `before` and rolls both back. Returns the SQLSTATE of the failure, or `done`. */
const codeOf = async (before: string, change: string): Promise<string> => {
  const transaction = await database.knex.transaction();
  try {
    await transaction.raw(before);
    await transaction.raw(change);
    return 'done';
  } catch (error) {
    return String((error as { code?: unknown }).code);
  } finally {
    await transaction.rollback();
  }
};

const OPEN = `INSERT INTO reservations (request_id, kind, svc_user_id, client_id, service, estimate_micros, week_start, month_start,
    created_at)
  VALUES ('sound', 'delegated', 'usr', 'app', 'chat', 1, now(), now(), now())`;
const TOMBSTONE =
  "kind = 'given_up', client_id = NULL, service = NULL, week_start = NULL, state = 'released', ended_at = now()";
const SETTLED = "state = 'settled', ended_at = now(), cost_micros = 0, settled_by = 'usage'";

test.each([
  ["state = 'reserved'", 'done', [TOMBSTONE, SETTLED, "state = 'uncertain'", "state = 'released', ended_at = now()"]],
  ["state = 'reserved'", '23514', ["kind = 'other'", "state = 'other'", 'estimate_micros = -1', "state = 'released'"]],
  [TOMBSTONE, '23514', ["client_id = 'app'", "service = 'chat'", 'week_start = now()']],
  ["state = 'reserved'", '23514', ['ended_at = now()', 'cost_micros = 0', "settled_by = 'usage'"]],
  ["state = 'reserved'", '23514', ['client_id = NULL', 'service = NULL', 'week_start = NULL']],
  [SETTLED, '23514', ['ended_at = NULL', 'cost_micros = NULL', 'settled_by = NULL']],
  [SETTLED, '23514', ['cost_micros = -1', "settled_by = 'other'"]],
])('checks a reservation: after %s, %s for %j', async (first, code, sets) => {
  const update = (set: string) => `UPDATE reservations SET ${set} WHERE request_id = 'sound'`;
  for (const set of sets) expect(await codeOf(`${OPEN}; ${update(first)}`, update(set)), set).toBe(code);
});

const ACCOUNT = `INSERT INTO accounts (svc_user_id, status, plan_id, anchor, "interval", period_start, period_end, week_start, week_end,
    month_start, month_end)
  VALUES ('sound', 'active', 'plan', '2026-01-01', 'month', '2026-01-01', '2026-02-01', now(), now(), now(), now())`;

test.each([
  ['done', ['pending = 2', `"interval" = 'year', week_used_micros = 5, month_used_micros = 5`]],
  ['23514', ['pending = -1', 'pending = 3', 'week_used_micros = -1', 'month_used_micros = -1']],
  ['23514', [`"interval" = 'week'`, 'period_end = period_start', "anchor = anchor + interval '1 microsecond'"]],
])('checks an account (%s): %j', async (code, sets) => {
  for (const set of sets) {
    expect(await codeOf(ACCOUNT, `UPDATE accounts SET ${set} WHERE svc_user_id = 'sound'`), set).toBe(code);
  }
});

const POSTING = `INSERT INTO ledger_postings (svc_user_id, posted_at, income_micros, write_offs_micros, kind, reference, currency)
  VALUES ('usr', now(),`;

test.each([
  ["5, -4, 'settlement', 'r', 'EUR'", '23514'],
  ["NULL, NULL, 'settlement', 'r', 'EUR'", '23514'],
  ["0, NULL, 'settlement', 'r', 'EUR'", '23514'],
  ["5, -5, 'settlement', 'r', 'eur'", '23514'],
  ["5, -5, 'top_up', NULL, 'EUR'", '23514'],
  ["5, -5, 'other', 'r', 'EUR'", '22P02'],
  ["5, -5, 'settlement', NULL, 'EUR'", 'done'],
])('a ledger posting of %s: %s', async (values, code) => {
  expect(await codeOf('SELECT 1', `${POSTING} ${values})`)).toBe(code);
});
