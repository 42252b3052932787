import type { Knex } from 'knex';

export const withOutbox = async <T>(
  deps: { readonly database: Knex; readonly relay: { hint(): void } },
  work: (trx: Knex.Transaction) => Promise<T>,
): Promise<T> => {
  const result = await deps.database.transaction(work);
  deps.relay.hint();
  return result;
};
