export type { KeyLimitStates, Spending } from './lease.ts';
export { LeaseBook } from './lease-book.ts';
export { createLeaseClock } from './lease-clock.ts';
export type { LeaseRefusal } from './lease-request.ts';
export { leaseRoutes } from './routes.ts';
