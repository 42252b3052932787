import type { Knex } from 'knex';

/** Validates the checks that the migration before added, without a lock that stops writers. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
    ALTER TABLE reservations VALIDATE CONSTRAINT reservations_written_off;
    ALTER TABLE ledger_entries VALIDATE CONSTRAINT ledger_entries_book_check;
  `);
};
