import { readFileSync } from 'node:fs';
import type { Knex } from 'knex';

const FUNCTIONS = [
  'write_usage_days',
  'lock_wallets',
  'write_key_use',
  'write_wallet_usage_days',
  'settle_key_requests',
  'settle_delegated_requests',
  'settle_requests',
];

/**
 * Settles all outcomes in one pass, and leaves out the steps that none of them needs. The days of use are written like
 * everything else, no longer by a trigger, and there are days of wallets too.
 */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(readFileSync(new URL('./tables/wallet_usage_days.sql', import.meta.url), 'utf8'));
  for (const name of FUNCTIONS) {
    await knex.raw(readFileSync(new URL(`./functions/${name}.sql`, import.meta.url), 'utf8'));
  }
  // Databases that passed `decide_by_one_function` earlier still have it.
  await knex.raw(`
    DROP TRIGGER IF EXISTS reservations_usage_days ON reservations;
    DROP FUNCTION usage_days_follow();
  `);
};
