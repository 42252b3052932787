import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { appendFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { newId } from '@svc/contracts';
import { type TestDatabase, testDatabase } from '@svc/database/testing';
import { createLogger, createMetrics } from '@svc/service-kit';
import { waitFor } from '@svc/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  createUsageMeters,
  keepUsagePartitions,
  releasedEnd,
  replayUsage,
  type UsageRecord,
  type WriteUsageDeps,
} from '../src/usage-records/index.ts';
import { createJournalMeters, lockJournal, takeOverJournals } from '../src/usage-records/journal/journal-files.ts';
import { type Journal, openJournal } from '../src/usage-records/journal/open-journal.ts';
import { toJournalLine } from '../src/usage-records/journal-line.ts';
import { type JournalProcess, startJournalProcess } from './support/journal-process.ts';

const MIGRATIONS = fileURLToPath(new URL('../migrations', import.meta.url));
const NOW = Date.parse('2026-11-20T12:00:00Z');
const logger = createLogger({ service: 'inference-gateway', level: 'silent' });
const metrics = createMetrics('inference-gateway', { isOfProcess: false });
const meters = createJournalMeters(metrics);
let database: TestDatabase;
let deps: WriteUsageDeps;
let directory: string;
const processes: JournalProcess[] = [];
const journals: Journal[] = [];

beforeAll(async () => {
  database = await testDatabase({ migrations: MIGRATIONS });
  await keepUsagePartitions(database.knex, { nowMs: NOW, monthsKept: 2 });
  const relay = { hint: () => {} };
  deps = { database: database.knex, relay, settle: async () => true, logger, meters: createUsageMeters(metrics) };
});
afterAll(() => database.drop());
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'journal-'));
});
afterEach(async () => {
  await Promise.all(processes.splice(0).map((running) => running.kill()));
  for (const journal of journals.splice(0)) journal.close();
  await rm(directory, { recursive: true });
});

const start = async (owner: string, limits: { fileBytesMax?: number } = {}): Promise<JournalProcess> => {
  const running = await startJournalProcess(directory, owner, limits);
  processes.push(running);
  return running;
};
const open = (owner: string): Journal => {
  const journal = openJournal({ directory, owner, logger, meters });
  journals.push(journal);
  return journal;
};
const newRecord = (): UsageRecord => ({
  requestId: newId('req'),
  kind: 'api_key',
  userId: newId('usr'),
  clientId: null,
  keyId: newId('key'),
  service: 'chat',
  model: 'svc-chat',
  lease: { lease_id: randomUUID(), hold_micros: 100 },
  ingressRegion: 'test',
  isStreamed: false,
  startedAtMs: NOW,
  ...releasedEnd(200, NOW + 5),
  servedBy: { routeId: 'chat-eu', provider: 'Sandbox', dataZone: 'EU', certification: null },
  outcome: 'settled',
  costMicros: 1_234,
});
/** Journals records in a process, then kills it. */
const journalAndDie = async (records: readonly UsageRecord[], owner = randomUUID()): Promise<void> => {
  const running = await start(owner);
  const written = await Promise.all(records.map((record) => running.append(toJournalLine(record))));
  expect(written).toEqual(records.map(() => true));
  await running.kill();
  processes.splice(processes.indexOf(running), 1);
};
const takeOver = (replay = (segments: readonly string[]) => replayUsage(deps, segments)) =>
  takeOverJournals({ directory, owner: randomUUID(), replay, signal: new AbortController().signal, logger, meters });
const idsOf = (records: readonly UsageRecord[]) => records.map(({ requestId }) => requestId);
/** Returns the costs in the usage records. */
const costsOf = async (records: readonly UsageRecord[]): Promise<number[]> =>
  await database.knex('usage_records').whereIn('request_id', idsOf(records)).pluck('cost_micros');
/** Returns the ids of these requests as reported in facts, including repeated reports. */
const factsOf = async (records: readonly UsageRecord[]): Promise<string[]> => {
  const ids = new Set(idsOf(records));
  const payloads: { records: { request_id: string }[] }[] = await database
    .knex('outbox')
    .where({ subject: 'inference.usage.recorded.v1' })
    .pluck('payload');
  return payloads
    .flatMap((payload) => payload.records.map((fact) => fact.request_id))
    .filter((id) => ids.has(id))
    .sort();
};
const files = () => readdir(directory);

/** Far below a segment, and enough to fill one in a few turns. */
const LINES_AT_ONCE = 20;

describe('the journal of a dead process', () => {
  test('is recorded, with each outcome reported once, and its files are deleted', async () => {
    const records = Array.from({ length: 450 }, newRecord);
    await journalAndDie(records);
    await takeOver();
    expect(await costsOf(records)).toEqual(records.map(() => 1_234));
    expect(await factsOf(records)).toEqual(idsOf(records).sort());
    expect(await files()).toEqual([]);
    await takeOver();
    expect(await factsOf(records)).toHaveLength(records.length);
  });

  test('is replayed by one of several successors that start at the same time', async () => {
    const records = Array.from({ length: 20 }, newRecord);
    await journalAndDie(records.slice(0, 10));
    await journalAndDie(records.slice(10));
    await Promise.all(Array.from({ length: 5 }, () => takeOver()));
    await takeOver();
    expect(await factsOf(records)).toEqual(idsOf(records).sort());
    expect(await files()).toEqual([]);
  });

  test('is replayed again if its successor died halfway, without reporting an outcome twice', async () => {
    const records = Array.from({ length: 300 }, newRecord);
    await journalAndDie(records);
    await takeOver(async ([text = '']) => {
      await replayUsage(deps, [text.slice(0, text.length / 2)]);
      throw new Error('killed');
    });
    const before = (await factsOf(records)).length;
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThan(records.length);
    await takeOver();
    expect(await factsOf(records)).toEqual(idsOf(records).sort());
    expect(await files()).toEqual([]);
  });

  test('is replayed again if its successor died before it deleted the segment', async () => {
    const records = [newRecord(), newRecord()];
    await journalAndDie(records);
    await takeOver(async (segments) => {
      await replayUsage(deps, segments);
      throw new Error('killed');
    });
    await takeOver();
    expect(await factsOf(records)).toEqual(idsOf(records).sort());
  });

  test('does not report outcomes that the process itself had recorded', async () => {
    const records = [newRecord(), newRecord(), newRecord()];
    await replayUsage(deps, [`${toJournalLine(records[1] ?? newRecord())}\n`]);
    await journalAndDie(records);
    await takeOver();
    expect(await factsOf(records)).toEqual(idsOf(records).sort());
  });

  test('keeps the last line of a request, in whichever segment it is', async () => {
    const ended = newRecord();
    const begun = { ...ended, outcome: 'uncertain' as const, costMicros: 1 };
    const other = newRecord();
    const toText = (...records: UsageRecord[]) => records.map((record) => `${toJournalLine(record)}\n`).join('');
    await replayUsage(deps, [toText(begun, other), toText(ended)]);
    expect(await factsOf([ended, other])).toEqual(idsOf([ended, other]).sort());
    expect(await costsOf([ended])).toEqual([ended.costMicros]);
  });

  test('loses only torn or damaged lines', async () => {
    const damagedLines = async () =>
      Number((await metrics.registry.getSingleMetric('usage_journal_lines_damaged_total')?.get())?.values[0]?.value);
    const owner = randomUUID();
    const before = await damagedLines();
    const records = [newRecord(), newRecord(), newRecord()];
    await journalAndDie(records.slice(0, 2), owner);
    const segment = join(directory, `${owner}.1.jsonl`);
    await appendFile(segment, `{"v":1,"request_id":"${newId('req')}"\n`);
    await appendFile(segment, `${toJournalLine(records[2] ?? newRecord())}\n`);
    await appendFile(segment, toJournalLine(newRecord()).slice(0, 100));
    await takeOver();
    expect(await factsOf(records)).toEqual(idsOf(records).sort());
    expect((await damagedLines()) - before).toBe(1);
    expect(await files()).toEqual([]);
  });

  test('is kept, and counted in a metric, if a later release wrote it', async () => {
    const owner = randomUUID();
    await journalAndDie([], owner);
    const later = `${JSON.stringify({ v: 2 })}\n`;
    await writeFile(join(directory, `${owner}.1.jsonl`), later);
    await takeOver();
    expect(await readFile(join(directory, `${owner}.1.jsonl`), 'utf8')).toBe(later);
    expect((await metrics.registry.getSingleMetric('usage_journals_left')?.get())?.values[0]?.value).toBe(1);
  });
});

describe('the journal of a live process', () => {
  test('is not replayed, even while the process is suspended', async () => {
    const running = await start(randomUUID());
    const record = newRecord();
    await running.append(toJournalLine(record));
    await takeOver();
    running.signal('SIGSTOP');
    await takeOver();
    expect(await factsOf([record])).toEqual([]);
    running.signal('SIGCONT');
    expect(await running.append(toJournalLine(newRecord()))).toBe(true);
    await running.kill();
    processes.splice(0);
    await takeOver();
    expect(await factsOf([record])).toEqual([record.requestId]);
  });

  test('is locked again if a successor deletes the lock file between its creation and the lock', () => {
    const file = join(directory, 'a.lock');
    const { exec } = DatabaseSync.prototype;
    const successor = vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementationOnce(function (
      this: DatabaseSync,
      sql,
    ) {
      rmSync(file);
      exec.call(this, sql);
    });
    const journal = open('a');
    successor.mockRestore();
    expect(lockJournal(file)).toBeUndefined();
    expect(journal.append('{}')).toBeDefined();
  });

  test('can only be read by its owner', async () => {
    const journal = open(randomUUID());
    journal.append(toJournalLine(newRecord()));
    const modes = (await files()).map(async (name) => (await stat(join(directory, name))).mode & 0o777);
    expect(await Promise.all(modes)).toEqual([0o600, 0o600]);
  });

  test('keeps at most one segment of released lines', async () => {
    const journal = open(randomUUID());
    const line = toJournalLine(newRecord());
    const entries = Array.from({ length: 5_000 }, () => journal.append(line));
    expect((await files()).length).toBeGreaterThan(8);
    for (const entry of entries) entry?.release();
    const sizes = async () =>
      Promise.all((await files()).map(async (name) => (await stat(join(directory, name))).size));
    await waitFor(async () => (await sizes()).filter((bytes) => bytes > 0).length <= 1);
  });

  test('creates the file of the next segment while the current one fills', async () => {
    const journal = open(randomUUID());
    const line = toJournalLine(newRecord());
    const append = () => journal.append(line);
    await waitFor(async () => {
      for (let count = 0; count < LINES_AT_ONCE; count += 1) append();
      return (await files()).length === 3;
    });
    const before = await files();
    // Less than the rest of the current segment and all of the next one.
    for (let bytes = 0; bytes < 300 * 1024; bytes += line.length + 1) append();
    const sizes = before.map(async (name) => (await stat(join(directory, name))).size);
    expect((await Promise.all(sizes)).filter((bytes) => bytes > 0)).toHaveLength(2);
  });

  test('deletes an unused file of the next segment when it is closed', async () => {
    const journal = open(randomUUID());
    const line = toJournalLine(newRecord());
    await waitFor(async () => {
      for (let count = 0; count < LINES_AT_ONCE; count += 1) journal.append(line)?.release();
      return (await files()).length === 3;
    });
    journal.close();
    // The last creation may still be on its way.
    await waitFor(async () => (await files()).length === 0);
  });

  test('deletes its files when it is closed, unless lines are unreleased', async () => {
    const journal = open(randomUUID());
    journal.append(toJournalLine(newRecord()))?.release();
    journal.close();
    expect(await files()).toEqual([]);
    const unfinished = open(randomUUID());
    const record = newRecord();
    unfinished.append(toJournalLine(record));
    unfinished.close();
    await takeOver();
    expect(await factsOf([record])).toEqual([record.requestId]);
  });

  test('continues in a new segment after a short write, and loses only the torn line', async () => {
    const owner = randomUUID();
    const running = await start(owner, { fileBytesMax: 4_096 });
    const written: UsageRecord[] = [];
    let hasFailed = false;
    await waitFor(async () => {
      const record = newRecord();
      const isWritten = await running.append(toJournalLine(record));
      if (isWritten) written.push(record);
      const hasRecovered = hasFailed && isWritten;
      hasFailed ||= !isWritten;
      return hasRecovered;
    });
    await running.kill();
    processes.splice(0);
    await takeOver();
    expect(await factsOf(written)).toEqual(idsOf(written).sort());
  });
});
