import { readFileSync } from 'node:fs';
import type { Knex } from 'knex';

/** In the order of their use. */
const FUNCTIONS = [
  'with_current_windows',
  'roll_account_windows',
  'refuse_delegated',
  'admit_delegated_requests',
  'key_held_micros',
  'with_current_key_windows',
  'admit_key_requests',
  'book_delegated_use',
  'book_key_use',
  'settle_request',
  'settle_requests',
  'previous_release',
];

/**
 * One function for each decision: admission of delegated requests, admission of API-key requests, settlement. A settlement
 * never takes a wallet below zero, and a key's monthly limit counts what its requests hold.
 *
 * The next release drops the functions of `previous_release.sql`, and with them `admit_for_key`, `give_up_requests`,
 * `settle_turn` and `ledger_post_many`, which calls that are under way during this migration may still reach.
 */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
    ALTER TABLE reservations
      -- The gateway process that asked; null for requests that the previous release admitted.
      ADD COLUMN holder_id text,
      -- What an API-key request has cost so far as its holder reported; null where only the hold is known.
      ADD COLUMN reported_micros bigint,
      -- The part of the cost that neither the wallet nor the key's limit covered.
      ADD COLUMN written_off_micros bigint NOT NULL DEFAULT 0,
      ADD CONSTRAINT reservations_written_off CHECK (written_off_micros BETWEEN 0 AND coalesce(cost_micros, 0)) NOT VALID;
    CREATE INDEX reservations_reserved_by_key ON reservations (key_id, month_start)
      WHERE state = 'reserved' AND key_id IS NOT NULL;
    -- As the last admission stated it.
    ALTER TABLE key_budgets ADD COLUMN month_limit_micros bigint;
    ALTER TABLE ledger_entries DROP CONSTRAINT ledger_entries_book_check,
      ADD CONSTRAINT ledger_entries_book_check CHECK (book IN (
        'usage', 'allowance', 'wallet_available', 'wallet_held', 'payments_received', 'income', 'write_offs')) NOT VALID;
  `);
  // As they are today, functions name tables of later migrations, which create them again.
  await knex.raw('SET LOCAL check_function_bodies = off');
  for (const name of FUNCTIONS) {
    await knex.raw(readFileSync(new URL(`./functions/${name}.sql`, import.meta.url), 'utf8'));
  }
};
