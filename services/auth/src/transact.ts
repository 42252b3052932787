import { retryTransaction } from '@svc/database';
import type { Knex } from 'knex';

/** A transaction of the service's own database. */
export type Transaction = Knex.Transaction;

/** Anything that runs SQL: the pool, or one transaction. */
export type Executor = Knex | Knex.Transaction;

/**
 * Runs `work` in one transaction, again from its start after a deadlock, and once it is committed wakes the relay for the
 * facts that it may have left. `work` has no other effect.
 */
export type Transact = <T>(work: (trx: Transaction) => Promise<T>) => Promise<T>;

/** Makes the service's way to change its state. `hint` must not throw. */
export const createTransact =
  (database: Knex, hint: () => void): Transact =>
  async (work) => {
    const result = await retryTransaction(database, work);
    hint();
    return result;
  };
