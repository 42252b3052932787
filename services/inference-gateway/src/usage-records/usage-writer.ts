import { setTimeout as sleep } from 'node:timers/promises';
import { batchCalls, type Metrics } from '@svc/service-kit';
import { type TraceSpan, withinSpan } from '@svc/tracing';
import type { Journal } from '../usage-journal/index.ts';
import { toJournalLine } from './journal-line.ts';
import type { UsageRecord } from './usage-record.ts';
import { BATCH_RECORDS_MAX, type WriteUsageDeps, writeUsageRecords } from './write-usage-records.ts';

/** Most of the cost of a transaction, of its fact and of the settlement from that is the same for one request or many. */
const PACE_MS = 50;

/** Writes usage records with their facts, many requests to a transaction. */
export interface UsageWriter {
  /** Whether new requests may be taken: false while too many records wait for the database. */
  readonly hasRoom: () => boolean;
  /**
   * Takes a record, and writes it as a step of the first sampled trace in its transaction. Returns whether the journal has it, so
   * that it survives this process.
   */
  readonly add: (record: UsageRecord, span?: TraceSpan) => boolean;
  /** True if no record waits for the database. */
  readonly isIdle: () => boolean;
  /** Resolves when everything taken so far is written, or after `timeoutMs`. */
  readonly written: (timeoutMs: number) => Promise<void>;
  /** Resolves when everything taken is written; rejects after `timeoutMs`. Nothing may be added any more. */
  readonly drain: (timeoutMs: number) => Promise<void>;
}

export interface UsageWriterOptions extends WriteUsageDeps {
  readonly queueRecordsMax: number;
  /** Absent if no directory is configured. */
  readonly journal?: Pick<Journal, 'append'> | undefined;
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
  options.metrics.gauge({
    name: 'usage_records_waiting',
    help: 'Usage records not yet in the database.',
    read: () => waiting,
  });
  const write = batchCalls<TakenRecord, void>({
    callsMax: BATCH_RECORDS_MAX,
    // `hasRoom` bounds the queue: a request that was served is never without a record.
    waitingMax: Number.POSITIVE_INFINITY,
    paceMs: PACE_MS,
    run: async (taken) => {
      const sampled = taken.find(({ span }) => span?.isSampled === true)?.span;
      const records = taken.map(({ record }) => record);
      await withinSpan(sampled, () => writeUsageRecords(options, records));
      return taken.map(() => undefined);
    },
  });
  return {
    hasRoom: () => waiting < options.queueRecordsMax,
    add: (record, span) => {
      const entry = options.journal?.append(toJournalLine(record));
      waiting += 1;
      lastWritten = write({ record, span }).then(() => {
        waiting -= 1;
        entry?.release();
      });
      return entry !== undefined;
    },
    isIdle: () => waiting === 0,
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
