import type { Knex } from 'knex';

/** Adds what receipts say of requests beside their cost: counts, and who served an API-key request. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
    CREATE TABLE request_details (
      request_id text PRIMARY KEY,
      service text NOT NULL,
      input_tokens bigint,
      output_tokens bigint,
      cached_input_tokens bigint,
      audio_ms bigint,
      provider text,
      model text,
      data_zone text,
      certification text,
      upstream_request_id text
    )
  `);
};
