import type { Knex } from 'knex';

/**
 * Columns that are written and never read (`failure` says why a session was not paid, `stripe_catalog` holds the prices), and
 * indexes that no statement uses: the one of postings cost every settlement a write at a random place.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE sandbox_sessions DROP COLUMN was_declined;
    ALTER TABLE plans DROP COLUMN stripe_price_id;
    DROP INDEX ledger_postings_by_account;
    DROP INDEX checkout_sessions_by_account;
  `);
}
