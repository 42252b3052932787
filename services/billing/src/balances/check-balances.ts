import type { Knex } from 'knex';
import { type Discrepancy, listDiscrepancies } from './queries.ts';

/** Discrepancies that are listed; whoever has more has one cause for them. */
const DISCREPANCIES_MAX = 100;

/**
 * Proves every running total from what it was made of: postings sum to zero, balances of wallets equal their books, costs are booked
 * once, and what wallets hold and what accounts and keys count equals their reservations. Answers what differs; nothing, in health. It
 * reads one snapshot and writes nothing, so it may run at any time, beside everything else, as often as one likes.
 */
export const checkBalances = (database: Knex): Promise<Discrepancy[]> =>
  database.transaction((trx) => listDiscrepancies(trx, DISCREPANCIES_MAX), { readOnly: true });
