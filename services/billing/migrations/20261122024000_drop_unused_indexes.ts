import type { Knex } from 'knex';

/** Indexes that no statement uses: the one of postings cost every settlement a write at a random place. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP INDEX ledger_postings_by_account;
    DROP INDEX checkout_sessions_by_account;
  `);
}
