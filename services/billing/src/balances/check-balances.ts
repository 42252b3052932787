import type { Knex } from 'knex';
import { type Discrepancy, listDiscrepancies } from './queries.ts';

/** Maximum number of listed discrepancies. So many would have a common cause. */
const DISCREPANCIES_MAX = 100;

/**
 * Recomputes every running total from its source and returns the discrepancies. Postings must sum to zero, wallet
 * balances must equal their books, and each cost must be booked once. Holds of wallets must equal those of their leases,
 * uncertain requests and extra use; counters of accounts, ceilings and keys their requests. Reads one snapshot and writes
 * nothing, so it can run on a live system at any time.
 */
export const checkBalances = (database: Knex): Promise<Discrepancy[]> =>
  database.transaction((trx) => listDiscrepancies(trx, DISCREPANCIES_MAX), { readOnly: true });
