export { keepUsagePartitions } from './partitions.ts';
export { endUnsent, openRequestBook, type RequestBook } from './request-book.ts';
export { usageRoutes } from './routes.ts';
export { servedBy, tokenEnd } from './token-end.ts';
export { type RequestEnd, type RequestIdentity, releasedEnd, type UsageRecord } from './usage-record.ts';
export { createUsageWriter, type UsageWriter } from './usage-writer.ts';
