export { openUsage } from './open-usage.ts';
export { keepUsagePartitions } from './partitions.ts';
export { replayUsage } from './replay-usage.ts';
export { endUnsent, openRequestBook, type RequestBook, servedBy, tokenEnd } from './request-book.ts';
export { usageRoutes } from './routes.ts';
export { type RequestEnd, type RequestIdentity, releasedEnd, type UsageRecord } from './usage-record.ts';
export { createUsageWriter, type UsageWriter } from './usage-writer.ts';
export { createUsageMeters, type WriteUsageDeps } from './write-usage-records.ts';
