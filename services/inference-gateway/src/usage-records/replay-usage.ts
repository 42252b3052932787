import { readJournalLine } from './journal-line.ts';
import { listRecordedRequestIds } from './queries.ts';
import type { UsageRecord } from './usage-record.ts';
import { BATCH_RECORDS_MAX, type WriteUsageDeps, writeUsageRecords } from './write-usage-records.ts';

/**
 * Writes the records of a journal that are missing in the database. Idempotent: existing records are neither changed nor
 * reported again. Throws UnknownJournalVersion before it writes anything.
 */
export const replayUsage = async (deps: WriteUsageDeps, journal: string): Promise<void> => {
  const lines = journal.split('\n').filter((line) => line !== '');
  const records = lines.map(readJournalLine);
  // If the process died while writing its last line, that request was not answered, so the line is not counted as damaged.
  const whole = journal.endsWith('\n') ? records : records.slice(0, -1);
  const damaged = whole.filter((record) => record === undefined).length;
  deps.meters.damaged.inc(damaged);
  if (damaged > 0) deps.logger.error({ count: damaged }, 'lines of a usage journal are damaged');
  const readable = records.filter((record) => record !== undefined);
  for (let start = 0; start < readable.length; start += BATCH_RECORDS_MAX) {
    await recordMissing(deps, readable.slice(start, start + BATCH_RECORDS_MAX));
  }
};

const recordMissing = async (deps: WriteUsageDeps, records: readonly UsageRecord[]): Promise<void> => {
  const recorded = new Set(await listRecordedRequestIds(deps.database, records));
  const missing = records.filter(({ requestId }) => !recorded.has(requestId));
  if (missing.length > 0) await writeUsageRecords(deps, missing);
};
