import type { Knex } from 'knex';

/** Lets API keys be changed, paused and rotated. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
    ALTER TABLE api_keys
      ADD COLUMN tokens_per_minute integer
        CONSTRAINT api_keys_tokens_per_minute_positive CHECK (tokens_per_minute > 0),
      ADD COLUMN models text[],
      ADD COLUMN active boolean NOT NULL DEFAULT true,
      ADD COLUMN previous_hash bytea CONSTRAINT api_keys_previous_hash_unique UNIQUE
        CONSTRAINT api_keys_previous_hash_length CHECK (octet_length(previous_hash) = 32),
      ADD COLUMN previous_expires_at timestamptz,
      ADD COLUMN version integer NOT NULL DEFAULT 1,
      ADD CONSTRAINT api_keys_overlap_ends CHECK ((previous_hash IS NULL) = (previous_expires_at IS NULL));
    COMMENT ON COLUMN api_keys.models IS 'The only models that the key may use; null for all of them.';
    COMMENT ON COLUMN api_keys.previous_hash IS 'The secret before the last rotation, valid until previous_expires_at.';
    COMMENT ON COLUMN api_keys.version IS 'Grows with each change; replicas read the key again once they learn of a newer version.';
  `);
};
