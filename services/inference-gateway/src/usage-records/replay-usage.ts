import { readJournalLine } from './journal-line.ts';
import { listRecordedRequestIds } from './queries.ts';
import type { UsageRecord } from './usage-record.ts';
import { BATCH_RECORDS_MAX, type WriteUsageDeps, writeUsageRecords } from './write-usage-records.ts';

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
