import type { Knex } from 'knex';

/** The release before still writes these: they may go with the release after this one. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE sandbox_sessions ADD COLUMN was_declined boolean NOT NULL DEFAULT false;
    ALTER TABLE plans ADD COLUMN stripe_price_id text;
  `);
}
