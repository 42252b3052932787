import type { Knex } from 'knex';

/** Reads all sessions once without blocking writers. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE checkout_sessions VALIDATE CONSTRAINT checkout_sessions_status_check;
    ALTER TABLE checkout_sessions VALIDATE CONSTRAINT checkout_sessions_completed_at_check;
  `);
}
