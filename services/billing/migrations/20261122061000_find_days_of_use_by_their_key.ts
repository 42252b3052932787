import type { Knex } from 'knex';

/**
 * Days of use are looked up by their key, whenever the plan was made. A plan made while the table was known to be empty read the whole
 * index, as that looked as good, and a connection keeps its plan: each settlement took longer than the one before.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- A bitmap is made of what a condition names, never of a whole index.
    ALTER FUNCTION usage_days_follow() SET enable_indexscan = off;
  `);
}
