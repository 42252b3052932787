import { readFileSync } from 'node:fs';
import type { Knex } from 'knex';

/** Lets no index but its own find the holds of a key. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
    DROP INDEX reservations_reserved_by_key;
    CREATE INDEX reservations_open_by_key ON reservations (key_id, month_start) WHERE key_id IS NOT NULL AND ended_at IS NULL;
  `);
  await knex.raw(readFileSync(new URL('./functions/key_held_micros.sql', import.meta.url), 'utf8'));
};
