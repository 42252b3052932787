import type { Knex } from 'knex';

/** Records the cached part of the input and the reasoning part of the output. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
    ALTER TABLE usage_records
      ADD COLUMN cached_input_tokens bigint,
      ADD COLUMN reasoning_tokens bigint;
  `);
};
