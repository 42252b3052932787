export type { LeaseRefusal } from './kept-lease.ts';
export type { KeyLimitStates, Spending } from './lease.ts';
export { LeaseBook } from './lease-book.ts';
export { createLeaseClock, leaseRoutes, openLeases } from './open-leases.ts';
export { createProcessLease, type ProcessLease, reachableUrl } from './process-lease.ts';
