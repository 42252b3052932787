import { setTimeout as sleep } from 'node:timers/promises';
import type { Span } from '@opentelemetry/api';
import { newId } from '@svc/contracts';
import { isInvalidData } from '@svc/database';
import { batchCalls, isSampled, type Logger, type Metrics, withinSpan } from '@svc/service-kit';
import type { Knex } from 'knex';
import { z } from 'zod';
import type { Settlement } from '../billing-client.ts';
import { createInferenceMeters } from './gen-ai.ts';
import { insertUsageRecords } from './insert-usage-records.ts';
import type { Journal, JournalEntry } from './journal/open-journal.ts';
import { toJournalLine } from './journal-line.ts';
import { type RequestIdentity, toSettlement, toUsageFact, type UsageRecord } from './usage-record.ts';

/** Limit of records in one transaction, and so in one fact. */
export const BATCH_RECORDS_MAX = 200;
const RETRY_MS_MIN = 50;
const RETRY_MS_MAX = 5_000;
/** A batch refused this often is written one by one, to isolate the invalid record. */
const REFUSALS_MAX = 3;

export interface WriteUsageDeps {
  readonly database: Knex;
  /** Wakes the outbox relay. */
  readonly relay: { readonly hint: () => void };
  /** Reports an outcome to billing directly: quick, but not guaranteed. */
  readonly settle: (settlement: Settlement) => Promise<boolean>;
  readonly logger: Logger;
  readonly meters: UsageMeters;
  /** Stops retrying. */
  readonly signal?: AbortSignal;
}

type UsageMeters = ReturnType<typeof createUsageMeters>;

export const createUsageMeters = (metrics: Metrics) => ({
  written: metrics.counter({ name: 'usage_records_written_total', help: 'Usage records written.' }),
  batches: metrics.counter({ name: 'usage_batches_written_total', help: 'Transactions of usage records.' }),
  refused: metrics.counter({
    name: 'usage_records_refused_total',
    help: 'Usage records dropped because the database rejected them. Their outcomes were reported to billing once.',
  }),
  damaged: metrics.counter({
    name: 'usage_journal_lines_damaged_total',
    help: 'Unreadable lines in journals of dead processes. Billing settles these requests at their estimate.',
  }),
});

/**
 * Writes records and the fact that reports them in one transaction. Retries until it succeeds. If the database rejects a
 * batch, drops only the invalid records. Throws only if the signal aborts.
 */
export const writeUsageRecords = async (deps: WriteUsageDeps, batch: readonly UsageRecord[]): Promise<void> => {
  const { logger, meters, signal } = deps;
  let refusals = 0;
  for (let delayMs = RETRY_MS_MIN; ; delayMs = Math.min(delayMs * 2, RETRY_MS_MAX)) {
    try {
      await writeBatch(deps, batch);
      meters.written.inc(batch.length);
      meters.batches.inc();
      return;
    } catch (error) {
      logger.error({ err: error, count: batch.length, delay_ms: delayMs }, 'usage records were not written');
      if (isRefusal(error)) refusals += 1;
      if (refusals >= REFUSALS_MAX) break;
    }
    await sleep(delayMs, undefined, { signal });
  }
  const [only] = batch;
  if (batch.length === 1 && only !== undefined) {
    meters.refused.inc();
    logger.error({ request_id: only.requestId, outcome: only.outcome }, 'a usage record was dropped');
    await deps.settle(toSettlement(only));
    return;
  }
  for (const record of batch) await writeUsageRecords(deps, [record]);
};

/** Returns true if the records are invalid. Other errors are transient. */
const isRefusal = (error: unknown): boolean =>
  isInvalidData(error) || error instanceof RangeError || error instanceof z.ZodError;

const writeBatch = async ({ database, relay }: WriteUsageDeps, batch: readonly UsageRecord[]): Promise<void> => {
  await insertUsageRecords(database, batch, {
    subject: 'inference.usage.recorded.v1',
    // Requests need no order, so each batch is a separate aggregate.
    aggregate: `usage:${newId('evt')}`,
    version: 1,
    data: { records: batch.map(toUsageFact) },
  });
  relay.hint();
};

/** Time between batches for which nothing waits. A transaction, its fact and the settlement cost almost the same for one request as for many. */
const PACE_MS = 50;

/** Writes usage records and their facts in batches. */
export interface UsageWriter {
  /** Returns false while the queue is full and new requests must be refused. */
  readonly hasRoom: () => boolean;
  /**
   * Notes an API-key request from its grant until its record is written. It is journaled as uncertain, so that a crash leaves
   * its estimate.
   */
  readonly open: (request: UsageRecord) => void;
  /** Finds a noted request. */
  readonly find: (requestId: string) => UnwrittenRequest | undefined;
  /**
   * Queues a record. Its batch is traced in the first sampled span among its records. Returns true if the record is in the
   * journal, and so survives a crash.
   */
  readonly add: (record: UsageRecord, span?: Span) => boolean;
  /** Returns true if no record is queued. */
  readonly isIdle: () => boolean;
  /** Resolves when all records queued so far are written, or after `timeoutMs`. */
  readonly written: (timeoutMs: number) => Promise<void>;
  /** Resolves when all records are written; rejects after `timeoutMs`. Nothing may be added afterwards. */
  readonly drain: (timeoutMs: number) => Promise<void>;
}

/** A request that runs, or whose record is queued. */
export interface UnwrittenRequest {
  readonly identity: RequestIdentity;
  readonly hasEnded: boolean;
  readonly entry: JournalEntry | undefined;
}

export interface UsageWriterOptions extends WriteUsageDeps {
  readonly queueRecordsMax: number;
  /** Absent if no directory is configured. */
  readonly journal?: Pick<Journal, 'append'> | undefined;
  readonly metrics: Metrics;
}

interface TakenRecord {
  readonly record: UsageRecord;
  readonly span: Span | undefined;
}

/** Creates the writer. A single record is written immediately. Only one transaction is open at a time. */
export const createUsageWriter = (options: UsageWriterOptions): UsageWriter => {
  let waiting = 0;
  const unwritten = new Map<string, UnwrittenRequest>();
  /** Resolves when the last queued record is written. Records are written in order. */
  let lastWritten = Promise.resolve();
  options.metrics.gauge({
    name: 'usage_records_waiting',
    help: 'Usage records not yet in the database.',
    read: () => waiting,
  });
  const observe = createInferenceMeters(options.metrics);
  const write = batchCalls<TakenRecord, void>({
    callsMax: BATCH_RECORDS_MAX,
    // `hasRoom` limits the queue instead, because the record of a served request must never be dropped.
    waitingMax: Number.POSITIVE_INFINITY,
    // Without a journal, responses wait for their records.
    paceMs: options.journal === undefined ? 0 : PACE_MS,
    run: async (taken) => {
      const sampled = taken.find(({ span }) => isSampled(span))?.span;
      const records = taken.map(({ record }) => record);
      await withinSpan(sampled, () => writeUsageRecords(options, records));
      return taken.map(() => undefined);
    },
  });
  return {
    hasRoom: () => waiting < options.queueRecordsMax,
    open: (request) => {
      const entry = options.journal?.append(toJournalLine(request));
      unwritten.set(request.requestId, { identity: request, hasEnded: false, entry });
    },
    find: (requestId) => unwritten.get(requestId),
    add: (record, span) => {
      observe(record);
      const begun = unwritten.get(record.requestId)?.entry;
      const entry = options.journal?.append(toJournalLine(record));
      unwritten.set(record.requestId, { identity: record, hasEnded: true, entry });
      waiting += 1;
      lastWritten = write({ record, span }).then(() => {
        waiting -= 1;
        unwritten.delete(record.requestId);
        entry?.release();
        begun?.release();
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

/** Waits for a promise with a timeout. Returns true if it resolved in time. */
const withinTime = async (done: Promise<void>, timeoutMs: number): Promise<boolean> => {
  const timer = new AbortController();
  const late = sleep(timeoutMs, false, { signal: timer.signal }).catch(() => false);
  const isInTime = await Promise.race([done.then(() => true), late]);
  timer.abort();
  return isInTime;
};
