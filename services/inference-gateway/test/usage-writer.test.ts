import { connect, createServer } from 'node:net';
import { pipeline } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { newId } from '@svc/contracts';
import { createDatabase } from '@svc/database';
import { type TestDatabase, testDatabase } from '@svc/database/testing';
import { createLogger, createMetrics } from '@svc/service-kit';
import { freePort, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createUsageMeters,
  createUsageWriter,
  keepUsagePartitions,
  releasedEnd,
  type UsageRecord,
  type UsageWriter,
} from '../src/usage-records/index.ts';

const MIGRATIONS = fileURLToPath(new URL('../migrations', import.meta.url));
const NOW = Date.parse('2026-11-20T12:00:00Z');
const logger = createLogger({ service: 'inference-gateway', level: 'silent' });
let database: TestDatabase;
let writer: UsageWriter;
let hints = 0;
/** Requests whose outcomes were reported to billing directly. */
const settled: string[] = [];

const writerOn = (
  knex: TestDatabase['knex'],
  {
    queueRecordsMax = 10_000,
    journal,
  }: Partial<Pick<Parameters<typeof createUsageWriter>[0], 'queueRecordsMax' | 'journal'>> = {},
): UsageWriter => {
  const metrics = createMetrics('inference-gateway', { isOfProcess: false });
  return createUsageWriter({
    database: knex,
    relay: { hint: () => (hints += 1) },
    settle: async ({ request_id }) => settled.push(request_id) > 0,
    meters: createUsageMeters(metrics),
    queueRecordsMax,
    journal,
    logger,
    metrics,
  });
};

beforeAll(async () => {
  database = await testDatabase({ migrations: MIGRATIONS });
  await keepUsagePartitions(database.knex, { nowMs: NOW, monthsKept: 2 });
  writer = writerOn(database.knex);
});
afterAll(() => database.drop());

const record = (changes: Partial<UsageRecord> = {}): UsageRecord => ({
  requestId: newId('req'),
  kind: 'delegated',
  userId: newId('usr'),
  clientId: newId('app'),
  keyId: null,
  service: 'chat',
  model: 'svc',
  ingressRegion: 'test',
  isStreamed: false,
  startedAtMs: NOW,
  lease: null,
  ...releasedEnd(503, NOW + 5),
  ...changes,
});
const factsOf = async (): Promise<string[]> =>
  (await database.knex('outbox').select('payload')).flatMap(({ payload }) =>
    payload.records.map(({ request_id }: { request_id: string }) => request_id),
  );

describe('batches', () => {
  test('write many records in few transactions, each with one fact', async () => {
    const records = Array.from({ length: 1_000 }, () => record());
    for (const each of records) writer.add(each);
    await writer.drain(10_000);
    const reported = await factsOf();
    expect(new Set(reported)).toEqual(new Set(records.map(({ requestId }) => requestId)));
    expect(reported).toHaveLength(1_000);
    expect(await database.knex('outbox')).toHaveLength(5);
    expect(hints).toBe(5);
  });

  test('start at least 50 ms apart under a steady flow of journaled records', async () => {
    const journaled = writerOn(database.knex, { journal: { append: () => ({ release: () => undefined }) } });
    const before = (await factsOf()).length;
    const transactionsBefore = hints;
    const startedAtMs = performance.now();
    for (let count = 0; count < 60; count += 1) {
      journaled.add(record());
      await sleep(1);
    }
    await journaled.drain(10_000);
    expect(await factsOf()).toHaveLength(before + 60);
    expect(hints - transactionsBefore).toBeLessThanOrEqual((performance.now() - startedAtMs) / 50 + 1);
  });

  test('write a single record immediately', async () => {
    const one = record();
    writer.add(one);
    await waitFor(() => database.knex('usage_records').where({ request_id: one.requestId }).first(), {
      timeoutMs: 1_000,
    });
  });

  test('write a record of a request during which the machine slept for a month', async () => {
    const slept = record({ firstEventMs: 31 * 86_400_000, finishedAtMs: NOW + 31 * 86_400_000 });
    writer.add(slept);
    await writer.drain(10_000);
    const [stored] = await database.knex('usage_records').where({ request_id: slept.requestId });
    expect(stored).toMatchObject({ first_event_ms: 2 ** 31 - 1, duration_ms: 2 ** 31 - 1 });
  });

  test('write the valid records despite an invalid one, whose outcome is reported to billing', async () => {
    const good = [record(), record()];
    const bad = record({ outcome: 'released', costMicros: 5 });
    writer.add(good[0] ?? record());
    writer.add(bad);
    writer.add(good[1] ?? record());
    await writer.drain(10_000);
    expect(settled).toEqual([bad.requestId]);
    expect(await factsOf()).toEqual(expect.arrayContaining(good.map(({ requestId }) => requestId)));
  });

  test('of several replicas give a new caller the same number', async () => {
    const replicas = await Promise.all([1, 2, 3, 4].map(async () => createDatabase(database.url, { poolMax: 1 })));
    const callers = Array.from({ length: 20 }, () => ({ userId: newId('usr'), clientId: newId('app') }));
    const written = replicas.map((knex) => ({ knex, writer: writerOn(knex), records: callers.map(record) }));
    await Promise.all(
      written.map(async ({ writer: replica, records }) => {
        for (const each of records) replica.add(each);
        await replica.drain(10_000);
      }),
    );
    const numbered = await database.knex('usage_callers').whereIn(
      'svc_user_id',
      callers.map(({ userId }) => userId),
    );
    expect(numbered).toHaveLength(callers.length);
    const stored = await database
      .knex('usage_records')
      .whereIn(
        'svc_user_id',
        callers.map(({ userId }) => userId),
      )
      .select('request_id', 'svc_user_id', 'client_id');
    const expected = written.flatMap(({ records }) =>
      records.map(({ requestId, userId, clientId }) => ({
        request_id: requestId,
        svc_user_id: userId,
        client_id: clientId,
      })),
    );
    expect(new Set(stored.map((row) => JSON.stringify(row)))).toEqual(
      new Set(expected.map((row) => JSON.stringify(row))),
    );
    await Promise.all(replicas.map((knex) => knex.destroy()));
  });

  test('write a repeated record once', async () => {
    const one = record();
    writer.add(one);
    await writer.drain(5_000);
    writer.add(one);
    await writer.drain(5_000);
    expect(await database.knex('usage_records').where({ request_id: one.requestId })).toHaveLength(1);
  });
});

describe('an outage of the database', () => {
  test('queues records up to the limit, and writes them later', async () => {
    const url = new URL(database.url);
    const target = { host: url.hostname, port: Number(url.port) };
    url.hostname = '127.0.0.1';
    url.port = String(await freePort());
    const own = createDatabase(url.href, { acquireTimeoutMs: 500 });
    const waiting = writerOn(own, { queueRecordsMax: 3 });
    const records = [record(), record(), record()];
    for (const each of records) waiting.add(each);
    expect(waiting.hasRoom()).toBe(false);
    await expect(waiting.drain(300)).rejects.toThrow('3 usage records');

    const door = createServer((socket) => pipeline(socket, connect(target), socket, () => {}));
    door.listen(Number(url.port), '127.0.0.1');
    await waiting.drain(10_000);
    expect(waiting.hasRoom()).toBe(true);
    expect(await factsOf()).toEqual(expect.arrayContaining(records.map(({ requestId }) => requestId)));
    await own.destroy();
    door.close();
  });

  test('loses no records of broken connections', async () => {
    const own = createDatabase(database.url, { applicationName: 'interrupted' });
    const interrupted = writerOn(own);
    const records = Array.from({ length: 400 }, () => record());
    const killing = setInterval(
      () =>
        void database.knex.raw(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'interrupted'`,
        ),
      5,
    );
    for (const each of records) {
      interrupted.add(each);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    clearInterval(killing);
    await interrupted.drain(10_000);
    const reported = new Set(await factsOf());
    expect(records.every(({ requestId }) => reported.has(requestId))).toBe(true);
    await own.destroy();
  });
});

describe('partitions', () => {
  const names = async (): Promise<string[]> =>
    (
      await database.knex.raw(
        `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'usage_rows'::regclass ORDER BY 1`,
      )
    ).rows.map(({ name }: { name: string }) => name);

  test('exist for this month and the next two, and old ones are dropped, with concurrent replicas', async () => {
    expect(await names()).toEqual([
      'usage_rows_2026_11',
      'usage_rows_2026_12',
      'usage_rows_2027_01',
      'usage_rows_other',
    ]);
    const later = { nowMs: Date.parse('2027-02-01T00:00:00Z'), monthsKept: 2 };
    await Promise.all([keepUsagePartitions(database.knex, later), keepUsagePartitions(database.knex, later)]);
    expect(await names()).toEqual([
      'usage_rows_2026_12',
      'usage_rows_2027_01',
      'usage_rows_2027_02',
      'usage_rows_2027_03',
      'usage_rows_2027_04',
      'usage_rows_other',
    ]);
  });

  test('outlive their callers and names by no month, and a caller who returns keeps its number', async () => {
    const caller = { userId: newId('usr'), clientId: newId('app') };
    const numberOf = async () =>
      (await database.knex('usage_callers').where({ svc_user_id: caller.userId }).first())?.caller_number;
    const write = async (startedAtMs: number) => {
      writer.add(record({ ...caller, startedAtMs }));
      await writer.drain(5_000);
    };
    await write(Date.parse('2027-01-31T00:00:00Z'));
    const number = await numberOf();
    await write(Date.parse('2027-02-02T00:00:00Z'));
    expect(await numberOf()).toBe(number);
    const keepAt = (at: string) => keepUsagePartitions(database.knex, { nowMs: Date.parse(at), monthsKept: 2 });
    await keepAt('2027-05-01T00:00:00Z');
    expect(await numberOf()).toBe(number);
    await keepAt('2027-06-01T00:00:00Z');
    expect([await numberOf(), await database.knex('usage_names')]).toEqual([undefined, []]);
  });

  test('are created although what has expired cannot be deleted yet', async () => {
    const userId = newId('usr');
    const caller = { svc_user_id: userId, kind: 'api_key', caller_id: newId('key'), last_month: '2026-10-01' };
    await database.knex('usage_callers').insert(caller);
    const holding = await database.knex.transaction();
    await holding('usage_callers').where({ svc_user_id: userId }).forUpdate();
    const later = { nowMs: Date.parse('2027-09-01T00:00:00Z'), monthsKept: 2 };
    await expect(keepUsagePartitions(database.knex, later)).rejects.toThrow('lock timeout');
    expect(await names()).toContain('usage_rows_2027_11');
    await holding.rollback();
    await keepUsagePartitions(database.knex, later);
    expect(await database.knex('usage_callers').where({ svc_user_id: userId })).toEqual([]);
  });

  test('wait shortly for a long read, so that records do not queue behind them', async () => {
    const reading = await database.knex.transaction();
    await reading.raw('SELECT count(*) FROM usage_records');
    const startedAtMs = performance.now();
    const later = { nowMs: Date.parse('2028-02-01T00:00:00Z'), monthsKept: 30 };
    await expect(keepUsagePartitions(database.knex, later)).rejects.toThrow('lock timeout');
    expect(performance.now() - startedAtMs).toBeLessThan(3_000);
    await reading.rollback();
    await keepUsagePartitions(database.knex, later);
    expect(await names()).toContain('usage_rows_2028_04');
  });
});
