import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '@svc/contracts';
import { isInvalidData } from '@svc/database';
import type { Logger, Metrics } from '@svc/service-kit';
import type { Knex } from 'knex';
import { z } from 'zod';
import type { Settlement } from '../billing-client.ts';
import { insertUsageRecords } from './insert-usage-records.ts';
import { toSettlement, toUsageFact, type UsageRecord } from './usage-record.ts';

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

export type UsageMeters = ReturnType<typeof createUsageMeters>;

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
