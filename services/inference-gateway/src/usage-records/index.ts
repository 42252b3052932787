export { keepUsagePartitions } from './partitions.ts';
export {
  type RequestEnd,
  type RequestIdentity,
  releasedEnd,
  type ServedBy,
  toOutcome,
  type UsageRecord,
} from './usage-record.ts';
export { createUsageWriter, type UsageWriter } from './usage-writer.ts';
