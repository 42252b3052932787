import type { Knex } from 'knex';

/** Limits the tokens of a key in a minute, and recognises requests of a key that are sent twice. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
    ALTER TABLE key_budgets
      ADD COLUMN minute_tokens bigint NOT NULL DEFAULT 0 CONSTRAINT key_budgets_minute_tokens_check CHECK (minute_tokens >= 0);
    ALTER TABLE reservations
      -- The minute of the key in which the tokens count; null if the key had no token limit.
      ADD COLUMN minute_start timestamptz,
      -- Reserved of the key's tokens in that minute.
      ADD COLUMN tokens bigint;
    CREATE UNIQUE INDEX reservations_key_idempotency ON reservations (key_id, idempotency_key_hash)
      WHERE key_id IS NOT NULL AND idempotency_key_hash IS NOT NULL;
  `);
};
