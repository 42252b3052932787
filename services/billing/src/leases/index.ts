export {
  createLeaseRecalls,
  type LeaseDeps,
  type LeaseRecalls,
  type RecallLeases,
  recallWallet,
} from './ask-leases.ts';
export { createLeaseMeters, type LeaseMeters } from './meters.ts';
export type { LeaseHolder } from './queries.ts';
export {
  type KeyRequestRecord,
  listKeyRequestRecords,
  listKeyRequestStates,
  listOverdueKeyRequests,
  listUncertainKeyRequests,
} from './request-queries.ts';
export { leaseRoutes, memberLimitRoutes } from './routes.ts';
export {
  type KeyOutcome,
  outcomeOfCall,
  outcomeOfFact,
  type SettledKeyRequest,
  settleKeyRequests,
} from './settle-key-requests.ts';
export { endSilent, type LeaseSweepDeps, sweepLeases } from './sweep-leases.ts';
