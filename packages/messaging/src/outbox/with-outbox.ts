import { retryTransaction } from '@svc/database';
import type { Knex } from 'knex';

/**
 * Runs `work` in one transaction, repeats it from the start after a deadlock or serialization failure, and wakes the relay
 * of the outbox after the commit. `work` must have no effect outside the transaction.
 */
export const withOutbox = async <T>(
  deps: { readonly database: Knex; readonly relay: { readonly hint: () => void } },
  work: (trx: Knex.Transaction) => Promise<T>,
): Promise<T> => {
  const result = await retryTransaction(deps.database, work);
  deps.relay.hint();
  return result;
};
