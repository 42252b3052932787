import { type Lifecycle, type Logger, type Metrics, runPeriodically } from '@svc/service-kit';
import type { BillingClient } from '../billing-client.ts';
import type { Config } from '../config.ts';
import { createJournalMeters, takeOverJournals } from './journal/journal-files.ts';
import { type Journal, openJournal } from './journal/open-journal.ts';
import { readJournalLine } from './journal-line.ts';
import { listRecordedRequestIds } from './queries.ts';
import type { UsageRecord } from './usage-record.ts';
import {
  BATCH_RECORDS_MAX,
  createUsageMeters,
  createUsageWriter,
  type UsageWriter,
  type WriteUsageDeps,
  writeUsageRecords,
} from './usage-writer.ts';

/**
 * Writes the records of a journal that are missing in the database. Idempotent: existing records are neither changed nor
 * reported again. Throws UnknownJournalVersion before it writes anything.
 */
export const replayUsage = async (deps: WriteUsageDeps, segments: readonly string[]): Promise<void> => {
  const read = segments.map(readSegment);
  const records = read.flatMap((segment) => segment.records);
  const damaged = read.reduce((sum, segment) => sum + segment.damaged, 0);
  deps.meters.damaged.inc(damaged);
  if (damaged > 0) deps.logger.error({ count: damaged }, 'lines of a usage journal are damaged');
  // A request is journaled when it begins and when it ends.
  const last = new Map(
    records.flatMap((record) => (record === undefined ? [] : [[record.requestId, record] as const])),
  );
  const readable = [...last.values()];
  for (let start = 0; start < readable.length; start += BATCH_RECORDS_MAX) {
    await recordMissing(deps, readable.slice(start, start + BATCH_RECORDS_MAX));
  }
};

const readSegment = (text: string) => {
  const records = text
    .split('\n')
    .filter((line) => line !== '')
    .map(readJournalLine);
  // If the process died while writing its last line, that request was not answered, so the line is not counted as damaged.
  const whole = text.endsWith('\n') ? records : records.slice(0, -1);
  return { records, damaged: whole.filter((record) => record === undefined).length };
};

const recordMissing = async (deps: WriteUsageDeps, records: readonly UsageRecord[]): Promise<void> => {
  const recorded = new Set(await listRecordedRequestIds(deps.database, records));
  const missing = records.filter(({ requestId }) => !recorded.has(requestId));
  if (missing.length > 0) await writeUsageRecords(deps, missing);
};

/** Slightly less than the timeout of a shutdown step. */
const STOP_STEP_MS = 9_000;
/** Longest delay until the journal of a process that dies while this one runs is taken over. */
const TAKE_OVER_INTERVAL_MS = 5_000;

interface UsageOptions {
  /** Also names the journal of this process. */
  readonly holderId: string;
  readonly config: Pick<Config, 'USAGE_JOURNAL_DIR' | 'USAGE_QUEUE_RECORDS_MAX'>;
  readonly billing: Pick<BillingClient, 'settle'>;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Opens the writer of usage records and its journal, and replays the journals of dead processes in the background. */
export const openUsage = (
  life: Lifecycle,
  { database, relay }: Pick<WriteUsageDeps, 'database' | 'relay'>,
  options: UsageOptions,
): UsageWriter => {
  const { config, billing, logger, metrics } = options;
  const deps: WriteUsageDeps = {
    database,
    relay,
    settle: billing.settle,
    logger,
    meters: createUsageMeters(metrics),
  };
  const journal = openJournals(life, options, (segments) => replayUsage({ ...deps, signal: life.signal }, segments));
  const queueRecordsMax = config.USAGE_QUEUE_RECORDS_MAX;
  const usage = createUsageWriter({ ...deps, queueRecordsMax, journal, metrics });
  life.onStop('usage records', () => usage.drain(STOP_STEP_MS));
  return usage;
};

const openJournals = (
  life: Lifecycle,
  { holderId, config, logger, metrics }: UsageOptions,
  replay: (segments: readonly string[]) => Promise<void>,
): Journal | undefined => {
  const directory = config.USAGE_JOURNAL_DIR;
  if (directory === undefined) {
    logger.warn({}, 'USAGE_JOURNAL_DIR is not set: a crash loses the usage of the last answers');
    return undefined;
  }
  const common = { directory, owner: holderId, logger, meters: createJournalMeters(metrics) };
  const journal = open(common);
  life.onStop('usage journal', journal.close);
  const taking = runPeriodically({
    name: 'usage journals',
    intervalMs: TAKE_OVER_INTERVAL_MS,
    run: () => takeOverJournals({ ...common, replay, signal: life.signal }),
    logger,
  });
  life.onStop('usage journals', taking.stop);
  return journal;
};

const open = (options: Parameters<typeof openJournal>[0]): Journal => {
  try {
    return openJournal(options);
  } catch (error) {
    throw new Error('USAGE_JOURNAL_DIR cannot be written', { cause: error });
  }
};
