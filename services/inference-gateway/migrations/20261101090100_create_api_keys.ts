import type { Knex } from 'knex';

/** Keys of the API-key gateway: recognised by a keyed hash, so that the table alone opens nothing. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
    CREATE TABLE api_keys (
      id text CONSTRAINT api_keys_pkey PRIMARY KEY,
      svc_user_id text NOT NULL,
      name text NOT NULL,
      prefix text NOT NULL,
      hash bytea NOT NULL CONSTRAINT api_keys_hash_unique UNIQUE,
      expires_at timestamptz,
      requests_per_minute integer CONSTRAINT api_keys_requests_per_minute_positive CHECK (requests_per_minute > 0),
      monthly_limit_micros bigint CONSTRAINT api_keys_monthly_limit_not_negative CHECK (monthly_limit_micros >= 0),
      created_at timestamptz NOT NULL,
      last_used_at timestamptz,
      deleted_at timestamptz,
      CONSTRAINT api_keys_hash_length CHECK (octet_length(hash) = 32)
    );
    CREATE INDEX api_keys_by_account ON api_keys (svc_user_id, id DESC) WHERE deleted_at IS NULL;
    COMMENT ON TABLE api_keys IS 'API keys by keyed hash; deleted ones stay, as usage records name them.';
  `);
};
