import type { Knex } from 'knex';

/** Reads all rows once, while others go on writing. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE reservations VALIDATE CONSTRAINT reservations_sound;
    ALTER TABLE accounts VALIDATE CONSTRAINT accounts_sound;
  `);
}
