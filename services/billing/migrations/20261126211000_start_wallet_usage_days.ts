import { readFileSync } from 'node:fs';
import type { Knex } from 'knex';

const FUNCTIONS = ['lock_wallets', 'write_key_use', 'write_wallet_usage_days', 'settle_key_requests'];

/**
 * Lets the days of wallets begin at one posting. Each settlement locks reservations first: under this lock none is under
 * way, and all later ones write days.
 */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(readFileSync(new URL('./tables/wallet_usage_days.sql', import.meta.url), 'utf8'));
  // Databases that passed `settle_in_one_pass` earlier have older ones.
  for (const name of FUNCTIONS) {
    await knex.raw(readFileSync(new URL(`./functions/${name}.sql`, import.meta.url), 'utf8'));
  }
  await knex.raw(`
    LOCK TABLE reservations IN EXCLUSIVE MODE;
    DELETE FROM wallet_usage_days;
    CREATE TABLE wallet_usage_days_start AS SELECT coalesce(max(id), 0) AS posting_id FROM ledger_postings;
  `);
};
