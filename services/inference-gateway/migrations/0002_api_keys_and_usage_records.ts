import { auditLogMigration } from '@svc/database';
import { formerSigningKeysMigration } from '@svc/secrets';
import type { Knex } from 'knex';

/** Keys of the API-key gateway, and metadata of every admitted request. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(API_KEYS);
  await knex.raw(USAGE_RECORDS);
  await formerSigningKeysMigration(knex);
  await auditLogMigration(knex);
};

const API_KEYS = `
CREATE TABLE api_keys (
  id text CONSTRAINT api_keys_pkey PRIMARY KEY,
  svc_user_id text NOT NULL,
  created_by text NOT NULL,
  creator_left boolean NOT NULL DEFAULT false,
  session_id text COLLATE "C",
  name text NOT NULL,
  prefix text NOT NULL,
  hash bytea NOT NULL CONSTRAINT api_keys_hash_unique UNIQUE,
  previous_hash bytea CONSTRAINT api_keys_previous_hash_unique UNIQUE,
  previous_expires_at timestamptz,
  expires_at timestamptz,
  requests_per_minute integer CONSTRAINT api_keys_requests_per_minute_positive CHECK (requests_per_minute > 0),
  tokens_per_minute integer CONSTRAINT api_keys_tokens_per_minute_positive CHECK (tokens_per_minute > 0),
  monthly_limit_micros bigint CONSTRAINT api_keys_monthly_limit_not_negative CHECK (monthly_limit_micros >= 0),
  models text[],
  active boolean NOT NULL DEFAULT true,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  -- Creation or last rotation, so that the secrets of an intruder can end alone.
  secret_created_at timestamptz NOT NULL,
  secret_created_by text NOT NULL,
  last_used_at timestamptz,
  -- End of the last month in which the monthly limit refused a request.
  limit_reached_until timestamptz,
  deleted_at timestamptz,
  CONSTRAINT api_keys_hash_length CHECK (octet_length(hash) = 48),
  CONSTRAINT api_keys_previous_hash_length CHECK (octet_length(previous_hash) = 48),
  CONSTRAINT api_keys_overlap_ends CHECK ((previous_hash IS NULL) = (previous_expires_at IS NULL))
);
CREATE INDEX api_keys_by_pepper ON api_keys (substr(hash, 1, 8));
CREATE INDEX api_keys_by_previous_pepper ON api_keys (substr(previous_hash, 1, 8)) WHERE previous_hash IS NOT NULL;
CREATE INDEX api_keys_by_account ON api_keys (svc_user_id, id DESC);
-- What an intruder created or rotated in an account ends in every organization.
CREATE INDEX api_keys_by_creator ON api_keys (created_by);
CREATE INDEX api_keys_by_secret_creator ON api_keys (secret_created_by);
COMMENT ON TABLE api_keys IS 'API keys by keyed digest, so that the table alone opens nothing; deleted ones stay, as usage records name them.';
COMMENT ON COLUMN api_keys.created_by IS 'Person who created the key for the account.';
COMMENT ON COLUMN api_keys.creator_left IS 'The creator is no longer a member of the organization, and an admin has not kept the key.';
COMMENT ON COLUMN api_keys.secret_created_by IS 'Person who created the key or rotated it last.';
COMMENT ON COLUMN api_keys.session_id IS 'Console session that created the key.';
COMMENT ON COLUMN api_keys.models IS 'The only models that the key may use; null for all of them.';
COMMENT ON COLUMN api_keys.previous_hash IS 'The secret before the last rotation, valid until previous_expires_at.';
COMMENT ON COLUMN api_keys.version IS 'Grows with each change; replicas read the key again once they learn of a newer version.';

CREATE TABLE key_cutoffs (
  svc_user_id text CONSTRAINT key_cutoffs_pkey PRIMARY KEY,
  sessions_revoked_through text COLLATE "C" NOT NULL
);
COMMENT ON TABLE key_cutoffs IS 'Newest session of a person that lost all access: it and older sessions create no more keys.';

CREATE TABLE ended_memberships (
  membership_id text CONSTRAINT ended_memberships_pkey PRIMARY KEY,
  ended_at timestamptz NOT NULL
);
CREATE INDEX ended_memberships_by_time ON ended_memberships (ended_at);
COMMENT ON TABLE ended_memberships IS 'Memberships whose tokens may still be valid for a moment: they create no more keys.';
`;

const USAGE_RECORDS = `
-- By month of their start, so that old months go by dropping a partition.
CREATE TABLE usage_records (
  request_id text NOT NULL,
  started_at timestamptz NOT NULL,
  kind text NOT NULL,
  svc_user_id text NOT NULL,
  client_id text,
  key_id text,
  service text NOT NULL,
  model text NOT NULL,
  upstream_model text,
  provider text,
  route_id text,
  data_zone text,
  ingress_region text NOT NULL,
  upstream_request_id text,
  input_tokens bigint,
  cached_input_tokens bigint,
  output_tokens bigint,
  reasoning_tokens bigint,
  audio_ms bigint,
  is_estimated boolean NOT NULL,
  outcome text NOT NULL,
  cost_micros bigint NOT NULL,
  status smallint NOT NULL,
  streamed boolean NOT NULL,
  first_event_ms integer,
  duration_ms integer NOT NULL,
  CONSTRAINT usage_records_pkey PRIMARY KEY (request_id, started_at),
  CONSTRAINT usage_records_kind_known CHECK (kind IN ('delegated', 'api_key')),
  CONSTRAINT usage_records_outcome_known CHECK (outcome IN ('settled', 'released', 'uncertain')),
  CONSTRAINT usage_records_cost_not_negative CHECK (cost_micros >= 0),
  CONSTRAINT usage_records_released_is_free CHECK (outcome <> 'released' OR cost_micros = 0),
  CONSTRAINT usage_records_caller_known CHECK ((kind = 'api_key') = (key_id IS NOT NULL))
) PARTITION BY RANGE (started_at);
CREATE TABLE usage_records_other PARTITION OF usage_records DEFAULT;
CREATE INDEX usage_records_by_account ON usage_records (svc_user_id, started_at DESC, request_id DESC)
  WHERE kind = 'api_key';
-- An export reads all requests of a person; no list shows the delegated ones.
CREATE INDEX usage_records_delegated_by_account ON usage_records (svc_user_id, started_at, request_id)
  WHERE kind = 'delegated';
CREATE INDEX usage_records_by_key ON usage_records (key_id, started_at DESC, request_id DESC)
  WHERE kind = 'api_key';
COMMENT ON TABLE usage_records IS 'Metadata of admitted requests; no prompt, answer or file ever.';
COMMENT ON TABLE usage_records_other IS 'Catches rows of months without a partition; empty in ordinary times.';
`;
