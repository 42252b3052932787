import { setTimeout as sleep } from 'node:timers/promises';
import { newId, type RequestOutcome } from '@svc/contracts';
import { isInvalidData } from '@svc/database';
import type { Logger, Metrics } from '@svc/service-kit';
import type { Knex } from 'knex';
import { z } from 'zod';
import { insertUsageRecords } from './queries.ts';
import { toOutcome, toUsageFact, type UsageRecord } from './usage-record.ts';

/** Records that one transaction, and so one fact, holds. */
export const BATCH_RECORDS_MAX = 200;
const RETRY_MS_MIN = 50;
const RETRY_MS_MAX = 5_000;
/** Records that are refused so often are split up, to find the one at fault. */
const REFUSALS_MAX = 3;

export interface WriteUsageDeps {
  readonly database: Knex;
  /** Wakes the relay of the outbox. */
  readonly relay: { readonly hint: () => void };
  /** Reports an outcome to billing without its record; a moment's wait, and no certainty. */
  readonly settle: (requestId: string, outcome: RequestOutcome) => Promise<boolean>;
  readonly logger: Logger;
  readonly meters: UsageMeters;
  /** Ends the retries while the database is away. */
  readonly signal?: AbortSignal;
}

export type UsageMeters = ReturnType<typeof createUsageMeters>;

/** Registers the counters of what is written. */
export const createUsageMeters = (metrics: Metrics) => ({
  written: metrics.counter({ name: 'usage_records_written_total', help: 'Usage records written.' }),
  batches: metrics.counter({ name: 'usage_batches_written_total', help: 'Transactions of usage records.' }),
  refused: metrics.counter({
    name: 'usage_records_refused_total',
    help: 'Usage records that the database refused for good. Billing was called with their outcomes, once.',
  }),
  damaged: metrics.counter({
    name: 'usage_journal_lines_damaged_total',
    help: 'Lines in journals of dead processes that could not be read: billing settles these requests at their estimate.',
  }),
});

/**
 * Writes records with the fact that reports them, in one transaction. Retries until they are written; of a batch that the database
 * refuses, gives up the records at fault. Throws only if the signal aborts.
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
    logger.error({ request_id: only.requestId, outcome: only.outcome }, 'a usage record was given up');
    await deps.settle(only.requestId, toOutcome(only));
    return;
  }
  for (const record of batch) await writeUsageRecords(deps, [record]);
};

/** The records themselves are at fault; anything else passes in time. */
const isRefusal = (error: unknown): boolean =>
  isInvalidData(error) || error instanceof RangeError || error instanceof z.ZodError;

const writeBatch = async ({ database, relay }: WriteUsageDeps, batch: readonly UsageRecord[]): Promise<void> => {
  await insertUsageRecords(database, batch, {
    subject: 'inference.usage.recorded.v1',
    // Facts about requests need no order among themselves, so every batch is an aggregate.
    aggregate: `usage:${newId('evt')}`,
    version: 1,
    data: { records: batch.map(toUsageFact) },
  });
  relay.hint();
};
