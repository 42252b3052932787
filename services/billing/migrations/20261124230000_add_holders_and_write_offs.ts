import type { Knex } from 'knex';

/** Adds what admission and settlement by one function each keep: the holder, reported costs, and the part that is written off. */
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
};
