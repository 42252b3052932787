import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { newId } from '@svc/contracts';
import { isInvalidData } from '@svc/database';
import { type Logger, type Metrics, UnorderedSet } from '@svc/service-kit';
import { type TraceSpan, withinSpan } from '@svc/tracing';
import type { Knex } from 'knex';
import { z } from 'zod';
import { insertUsageRecords } from './queries.ts';
import { toUsageFact, type UsageRecord } from './usage-record.ts';

/** Records that one transaction, and so one fact, holds. */
const BATCH_RECORDS_MAX = 200;
/**
 * Between the beginnings of two transactions. One that waits holds more, and most of the cost of a transaction, of the fact in it and
 * of the settlement from that is its own, however many requests it tells of.
 */
const PACE_MS = 50;
const RETRY_MS_MIN = 50;
const RETRY_MS_MAX = 5_000;
/** Records that are refused so often are split up, to find the one at fault. */
const REFUSALS_MAX = 3;

/** Writes usage records with the facts that tell of them, many requests to a transaction. */
export interface UsageWriter {
  /** Whether new requests may be taken: false while too many records wait for the database. */
  readonly hasRoom: () => boolean;
  /** Takes a record; it is written as soon as the transaction before has ended, as a step of the first trace in it. */
  readonly add: (record: UsageRecord, span?: TraceSpan) => void;
  /** Resolves when everything taken so far is written, or after `timeoutMs`. */
  readonly written: (timeoutMs: number) => Promise<void>;
  /** Resolves when everything taken is written; rejects after `timeoutMs`. Nothing may be added any more. */
  readonly drain: (timeoutMs: number) => Promise<void>;
}

/** What the writer works with. */
export interface UsageWriterOptions {
  readonly database: Knex;
  /** Wakes the relay of the outbox. */
  readonly relay: { readonly hint: () => void };
  readonly queueRecordsMax: number;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Creates the writer. A lone record is written at once; one transaction is open at a time, and what comes soon after it shares the next. */
export const createUsageWriter = (options: UsageWriterOptions): UsageWriter => {
  const queue: UsageRecord[] = [];
  const spans = new WeakMap<UsageRecord, TraceSpan>();
  /** Records ever taken and written, and who waits for the latter to reach a number. */
  let [takenCount, writtenCount] = [0, 0];
  const waiting = new UnorderedSet<{ readonly count: number; readonly resolve: () => void }>();
  let running: Promise<void> | undefined;
  let begunAtMs = Number.NEGATIVE_INFINITY;
  const meters = createMeters(options.metrics, () => queue.length);

  const run = async (): Promise<void> => {
    // What is added in the same turn of the event loop shares the first transaction, and answers go out ahead of it.
    await nextTurn();
    while (queue.length > 0) {
      const waitMs = begunAtMs + PACE_MS - performance.now();
      if (waitMs > 0 && queue.length < BATCH_RECORDS_MAX) await sleep(waitMs);
      begunAtMs = performance.now();
      const batch = queue.slice(0, BATCH_RECORDS_MAX);
      await withinSpan(firstSampled(batch, spans), () => writePatiently(options, batch, meters));
      queue.splice(0, batch.length);
      writtenCount += batch.length;
      for (const { count, resolve } of waiting) if (count <= writtenCount) resolve();
    }
  };
  const start = (): void => {
    running ??= run().finally(() => {
      running = undefined;
      if (queue.length > 0) start();
    });
  };
  const allWritten = async (): Promise<void> => {
    while (running !== undefined) await running;
  };
  return {
    hasRoom: () => queue.length < options.queueRecordsMax,
    add: (record, span) => {
      if (span !== undefined) spans.set(record, span);
      queue.push(record);
      takenCount += 1;
      start();
    },
    written: (timeoutMs) =>
      new Promise((resolve) => {
        if (queue.length === 0) return resolve();
        const done = (): void => {
          clearTimeout(timer);
          leave();
          resolve();
        };
        const timer = setTimeout(done, timeoutMs);
        const leave = waiting.add({ count: takenCount, resolve: done });
      }),
    drain: async (timeoutMs) => {
      const done = new AbortController();
      const late = sleep(timeoutMs, 'late' as const, { signal: done.signal }).catch(() => 'done' as const);
      const outcome = await Promise.race([allWritten().then(() => 'done' as const), late]);
      done.abort();
      if (outcome === 'late') throw new Error(`${queue.length} usage records could not be written`);
    },
  };
};

/** A transaction for many requests is told in the trace of one of them. */
const firstSampled = (batch: readonly UsageRecord[], spans: WeakMap<UsageRecord, TraceSpan>): TraceSpan | undefined =>
  batch.map((record) => spans.get(record)).find((span) => span?.isSampled === true);

type Meters = ReturnType<typeof createMeters>;

const createMeters = (metrics: Metrics, waiting: () => number) => {
  metrics.gauge({
    name: 'usage_records_waiting',
    help: 'Usage records not yet in the database.',
    read: waiting,
  });
  const written = metrics.counter({ name: 'usage_records_written_total', help: 'Usage records written.' });
  const batches = metrics.counter({ name: 'usage_batches_written_total', help: 'Transactions of usage records.' });
  const refused = metrics.counter({
    name: 'usage_records_refused_total',
    help: 'Usage records that the database refused for good: billing settles these requests at their estimate.',
  });
  return { written, batches, refused };
};

/** Repeats a batch until it is written; one that the database refuses is written record by record, without the bad one. */
const writePatiently = async (
  options: UsageWriterOptions,
  batch: readonly UsageRecord[],
  meters: Meters,
): Promise<void> => {
  let refusals = 0;
  for (let delayMs = RETRY_MS_MIN; ; delayMs = Math.min(delayMs * 2, RETRY_MS_MAX)) {
    try {
      await writeBatch(options, batch);
      meters.written.inc(batch.length);
      meters.batches.inc();
      return;
    } catch (error) {
      options.logger.error({ err: error, count: batch.length, delay_ms: delayMs }, 'usage records were not written');
      if (isRefusal(error)) refusals += 1;
      if (refusals >= REFUSALS_MAX) break;
    }
    await sleep(delayMs);
  }
  const [only] = batch;
  if (batch.length === 1 && only !== undefined) {
    meters.refused.inc();
    options.logger.error({ request_id: only.requestId, outcome: only.outcome }, 'a usage record was given up');
    return;
  }
  for (const record of batch) await writePatiently(options, [record], meters);
};

/** Whether the records themselves are at fault; anything else passes in time. */
const isRefusal = (error: unknown): boolean =>
  isInvalidData(error) || error instanceof RangeError || error instanceof z.ZodError;

const writeBatch = async ({ database, relay }: UsageWriterOptions, batch: readonly UsageRecord[]): Promise<void> => {
  await insertUsageRecords(database, batch, {
    subject: 'inference.usage.recorded.v1',
    // Every batch is an aggregate of its own: facts about requests need no order among themselves.
    aggregate: `usage:${newId('evt')}`,
    version: 1,
    data: { records: batch.map(toUsageFact) },
  });
  relay.hint();
};
