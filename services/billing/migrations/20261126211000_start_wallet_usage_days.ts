import type { Knex } from 'knex';

/**
 * Lets the days of wallets begin at one posting. Each settlement locks reservations first: under this lock none is under
 * way, and all later ones write days.
 */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
    LOCK TABLE reservations IN EXCLUSIVE MODE;
    DELETE FROM wallet_usage_days;
    CREATE TABLE wallet_usage_days_start AS SELECT coalesce(max(id), 0) AS posting_id FROM ledger_postings;
  `);
};
