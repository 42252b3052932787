export { type LeaseDeps, recallWallet } from './ask-leases.ts';
export { type KeyOutcome, outcomeOfCall, outcomeOfFact } from './key-outcome.ts';
export { createLeaseMeters, type LeaseMeters } from './meters.ts';
export type { LeaseHolder } from './queries.ts';
export { createLeaseRecalls, type LeaseRecalls, type RecallLeases } from './recall-leases.ts';
export {
  type KeyRequestRecord,
  listKeyRequestRecords,
  listKeyRequestStates,
  listOverdueKeyRequests,
  listUncertainKeyRequests,
} from './request-queries.ts';
export { leaseRoutes, memberLimitRoutes } from './routes.ts';
export { type SettledKeyRequest, settleKeyRequests } from './settle-key-requests.ts';
export { endSilent, type LeaseSweepDeps, sweepLeases } from './sweep-leases.ts';
