import { auditLogMigration, compactIdsMigration } from '@svc/database';
import { inboxMigration, outboxMigration } from '@svc/messaging';
import { formerSigningKeysMigration, secretChecksMigration } from '@svc/secrets';
import type { Knex } from 'knex';

/** Facts that leave and arrive; keys of the API-key gateway, and metadata of every admitted request. */
export const up = async (knex: Knex): Promise<void> => {
  await outboxMigration(knex);
  await inboxMigration(knex);
  await secretChecksMigration(knex);
  await knex.raw(API_KEYS);
  await compactIdsMigration(knex);
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
CREATE TABLE usage_callers (
  caller_number int GENERATED ALWAYS AS IDENTITY CONSTRAINT usage_callers_pkey PRIMARY KEY,
  svc_user_id text NOT NULL,
  kind text NOT NULL CONSTRAINT usage_callers_kind_known CHECK (kind IN ('delegated', 'api_key')),
  caller_id text NOT NULL,
  last_month date NOT NULL,
  CONSTRAINT usage_callers_once UNIQUE (svc_user_id, kind, caller_id)
);
COMMENT ON TABLE usage_callers IS 'API keys, and accounts in an app, by a short number for their records.';
COMMENT ON COLUMN usage_callers.caller_id IS 'Key or app.';
COMMENT ON COLUMN usage_callers.last_month IS 'First day of the month (UTC) of its latest record, with whose month it is deleted.';

CREATE TABLE usage_names (
  names_number int GENERATED ALWAYS AS IDENTITY CONSTRAINT usage_names_pkey PRIMARY KEY,
  digest uuid NOT NULL CONSTRAINT usage_names_once UNIQUE,
  last_month date NOT NULL,
  service text NOT NULL,
  model text NOT NULL,
  upstream_model text,
  provider text,
  route_id text,
  data_zone text,
  certification text,
  ingress_region text NOT NULL
);
COMMENT ON TABLE usage_names IS 'Names that records share: of route, models, provider and zone.';
COMMENT ON COLUMN usage_names.last_month IS 'First day of the month (UTC) of their latest record, with whose month they are deleted.';
COMMENT ON COLUMN usage_names.digest IS 'Part of the SHA-256 of the names, as a provider may send a model name of any length.';

-- Every byte here is kept for each request, so columns are ordered by alignment. By month of the id, which begins with its time,
-- so that old months go by dropping a partition.
CREATE TABLE usage_rows (
  id uuid NOT NULL,
  started_at timestamptz NOT NULL,
  cost_micros bigint NOT NULL,
  caller_number int NOT NULL,
  names_number int NOT NULL,
  duration_ms int NOT NULL,
  input_tokens int,
  output_tokens int,
  cached_input_tokens int,
  reasoning_tokens int,
  audio_ms int,
  first_event_ms int,
  status smallint NOT NULL,
  outcome "char" NOT NULL,
  is_estimated boolean NOT NULL,
  streamed boolean NOT NULL,
  upstream_request_id text,
  -- Requests of a caller by time: lists of an account merge those of its callers.
  CONSTRAINT usage_rows_pkey PRIMARY KEY (caller_number, id),
  CONSTRAINT usage_rows_outcome_known CHECK (outcome IN ('s', 'r', 'u')),
  CONSTRAINT usage_rows_cost_not_negative CHECK (cost_micros >= 0),
  CONSTRAINT usage_rows_released_is_free CHECK (outcome <> 'r' OR cost_micros = 0)
) PARTITION BY RANGE (id);
CREATE TABLE usage_rows_other PARTITION OF usage_rows DEFAULT;
COMMENT ON TABLE usage_rows IS 'Metadata of admitted requests; no prompt, answer or file ever. See the view usage_records.';
COMMENT ON COLUMN usage_rows.id IS 'Bits of the request id, see uuid_of_id.';
COMMENT ON TABLE usage_rows_other IS 'Catches rows of months without a partition; empty in ordinary times.';

CREATE VIEW usage_records AS
  SELECT id_of_uuid('req', r.id) AS request_id, r.started_at, c.kind, c.svc_user_id,
    CASE c.kind WHEN 'delegated' THEN c.caller_id END AS client_id, CASE c.kind WHEN 'api_key' THEN c.caller_id END AS key_id,
    n.service, n.model, n.upstream_model, n.provider, n.route_id, n.data_zone, n.certification, n.ingress_region,
    r.upstream_request_id, r.input_tokens, r.cached_input_tokens, r.output_tokens, r.reasoning_tokens, r.audio_ms,
    r.is_estimated, CASE r.outcome WHEN 's' THEN 'settled' WHEN 'r' THEN 'released' ELSE 'uncertain' END AS outcome,
    r.cost_micros, r.status, r.streamed, r.first_event_ms, r.duration_ms, r.id, r.caller_number
  FROM usage_rows AS r JOIN usage_callers AS c USING (caller_number) JOIN usage_names AS n USING (names_number);
COMMENT ON VIEW usage_records IS 'The records with their names. Search by id, caller_number or svc_user_id: request_id is computed.';
`;
