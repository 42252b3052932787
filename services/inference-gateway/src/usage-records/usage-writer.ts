import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '@svc/contracts';
import { isInvalidData } from '@svc/database';
import { batchCalls, type Logger, type Metrics } from '@svc/service-kit';
import { type TraceSpan, withinSpan } from '@svc/tracing';
import type { Knex } from 'knex';
import { z } from 'zod';
import { insertUsageRecords } from './queries.ts';
import { toUsageFact, type UsageRecord } from './usage-record.ts';

/** Records in one transaction, and so in one fact. */
const BATCH_RECORDS_MAX = 200;
/** Most of the cost of a transaction, of its fact and of the settlement from that is the same for one request or many. */
const PACE_MS = 50;
const RETRY_MS_MIN = 50;
const RETRY_MS_MAX = 5_000;
/** A batch that the database refuses so often is split up, to find the record at fault. */
const REFUSALS_MAX = 3;

/** Writes usage records with their facts, many requests to a transaction. */
export interface UsageWriter {
  /** Whether new requests may be taken: false while too many records wait for the database. */
  readonly hasRoom: () => boolean;
  /** Takes a record, and writes it as a step of the first sampled trace in its transaction. */
  readonly add: (record: UsageRecord, span?: TraceSpan) => void;
  /** Resolves when everything taken so far is written, or after `timeoutMs`. */
  readonly written: (timeoutMs: number) => Promise<void>;
  /** Resolves when everything taken is written; rejects after `timeoutMs`. Nothing may be added any more. */
  readonly drain: (timeoutMs: number) => Promise<void>;
}

export interface UsageWriterOptions {
  readonly database: Knex;
  /** Wakes the relay of the outbox. */
  readonly relay: { readonly hint: () => void };
  readonly queueRecordsMax: number;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

interface TakenRecord {
  readonly record: UsageRecord;
  readonly span: TraceSpan | undefined;
}

/** Creates the writer. A lone record is written at once; one transaction is open at a time. */
export const createUsageWriter = (options: UsageWriterOptions): UsageWriter => {
  let waiting = 0;
  /** Resolves once the last record is written that has been taken; records are written in order. */
  let lastWritten = Promise.resolve();
  const meters = createMeters(options.metrics, () => waiting);
  const write = batchCalls<TakenRecord, void>({
    callsMax: BATCH_RECORDS_MAX,
    // `hasRoom` bounds the queue: a request that was served is never without a record.
    waitingMax: Number.POSITIVE_INFINITY,
    paceMs: PACE_MS,
    run: async (taken) => {
      const sampled = taken.find(({ span }) => span?.isSampled === true)?.span;
      const records = taken.map(({ record }) => record);
      await withinSpan(sampled, () => writePatiently(options, records, meters));
      return taken.map(() => undefined);
    },
  });
  return {
    hasRoom: () => waiting < options.queueRecordsMax,
    add: (record, span) => {
      waiting += 1;
      lastWritten = write({ record, span }).then(() => {
        waiting -= 1;
      });
    },
    written: async (timeoutMs) => {
      if (waiting > 0) await withinTime(lastWritten, timeoutMs);
    },
    drain: async (timeoutMs) => {
      const isInTime = await withinTime(lastWritten, timeoutMs);
      if (!isInTime) throw new Error(`${waiting} usage records could not be written`);
    },
  };
};

/** Waits for a promise, but no longer than this; returns whether it has resolved. */
const withinTime = async (done: Promise<void>, timeoutMs: number): Promise<boolean> => {
  const timer = new AbortController();
  const late = sleep(timeoutMs, false, { signal: timer.signal }).catch(() => false);
  const isInTime = await Promise.race([done.then(() => true), late]);
  timer.abort();
  return isInTime;
};

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
    help: 'Usage records that the database refuses: billing settles these requests at their estimate.',
  });
  return { written, batches, refused };
};

/** Repeats a batch until it is written. Writes one that the database refuses record by record, without the refused one. */
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

/** Whether the records themselves are at fault; every other failure is temporary. */
const isRefusal = (error: unknown): boolean =>
  isInvalidData(error) || error instanceof RangeError || error instanceof z.ZodError;

const writeBatch = async ({ database, relay }: UsageWriterOptions, batch: readonly UsageRecord[]): Promise<void> => {
  await insertUsageRecords(database, batch, {
    subject: 'inference.usage.recorded.v1',
    // Each batch is its own aggregate: facts about requests need no order.
    aggregate: `usage:${newId('evt')}`,
    version: 1,
    data: { records: batch.map(toUsageFact) },
  });
  relay.hint();
};
