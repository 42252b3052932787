export { openUsage, replayUsage } from './open-usage.ts';
export { keepUsagePartitions } from './partitions.ts';
export { endUnsent, openRequestBook, type RequestBook, servedBy, tokenEnd } from './request-book.ts';
export { usageRoutes } from './routes.ts';
export { type RequestEnd, type RequestIdentity, releasedEnd, type UsageRecord } from './usage-record.ts';
export { createUsageMeters, createUsageWriter, type UsageWriter, type WriteUsageDeps } from './usage-writer.ts';
