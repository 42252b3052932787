export { checkBalances } from './check-balances.ts';
export type { Discrepancy } from './queries.ts';
