-- Generated from the migrated database: do not edit. Functions are in migrations/functions, one file each.

CREATE TABLE api_keys (
  id text NOT NULL,
  svc_user_id text NOT NULL,
  created_by text NOT NULL,
  creator_left boolean DEFAULT false NOT NULL,
  session_id text COLLATE "C",
  name text NOT NULL,
  prefix text NOT NULL,
  hash bytea NOT NULL,
  previous_hash bytea,
  previous_expires_at timestamp with time zone,
  expires_at timestamp with time zone,
  requests_per_minute integer,
  tokens_per_minute integer,
  monthly_limit_micros bigint,
  models text[],
  active boolean DEFAULT true NOT NULL,
  version integer DEFAULT 1 NOT NULL,
  created_at timestamp with time zone NOT NULL,
  secret_created_at timestamp with time zone NOT NULL,
  secret_created_by text NOT NULL,
  last_used_at timestamp with time zone,
  limit_reached_until timestamp with time zone,
  deleted_at timestamp with time zone,
  CONSTRAINT api_keys_pkey PRIMARY KEY (id),
  CONSTRAINT api_keys_hash_unique UNIQUE (hash),
  CONSTRAINT api_keys_previous_hash_unique UNIQUE (previous_hash),
  CONSTRAINT api_keys_hash_length CHECK ((octet_length(hash) = 48)),
  CONSTRAINT api_keys_monthly_limit_not_negative CHECK ((monthly_limit_micros >= 0)),
  CONSTRAINT api_keys_overlap_ends CHECK (((previous_hash IS NULL) = (previous_expires_at IS NULL))),
  CONSTRAINT api_keys_previous_hash_length CHECK ((octet_length(previous_hash) = 48)),
  CONSTRAINT api_keys_requests_per_minute_positive CHECK ((requests_per_minute > 0)),
  CONSTRAINT api_keys_tokens_per_minute_positive CHECK ((tokens_per_minute > 0))
);
CREATE INDEX api_keys_by_account ON api_keys USING btree (svc_user_id, id DESC);
CREATE INDEX api_keys_by_creator ON api_keys USING btree (created_by);
CREATE INDEX api_keys_by_pepper ON api_keys USING btree (substr(hash, 1, 8));
CREATE INDEX api_keys_by_previous_pepper ON api_keys USING btree (substr(previous_hash, 1, 8)) WHERE (previous_hash IS NOT NULL);
CREATE INDEX api_keys_by_secret_creator ON api_keys USING btree (secret_created_by);

CREATE TABLE audit_log (
  id text NOT NULL,
  organization_id text NOT NULL,
  at timestamp with time zone DEFAULT now() NOT NULL,
  actor_id text,
  action text NOT NULL,
  target_type text NOT NULL,
  target_id text,
  target_name text,
  source text NOT NULL,
  CONSTRAINT audit_log_pkey PRIMARY KEY (id),
  CONSTRAINT audit_log_source_check CHECK ((source = ANY (ARRAY['console'::text, 'management_key'::text, 'operator'::text])))
);
CREATE INDEX audit_log_by_organization ON audit_log USING btree (organization_id, id);
CREATE INDEX audit_log_by_time ON audit_log USING btree (at);
CREATE TRIGGER audit_log_append_only BEFORE DELETE OR UPDATE ON audit_log FOR EACH ROW EXECUTE FUNCTION keep_audit_log();
CREATE TRIGGER audit_log_not_emptied BEFORE TRUNCATE ON audit_log FOR EACH STATEMENT EXECUTE FUNCTION keep_audit_log();

CREATE TABLE dead_letters (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  consumer text NOT NULL,
  event_id uuid,
  stream text NOT NULL,
  stream_seq bigint NOT NULL,
  subject text NOT NULL,
  payload text NOT NULL,
  deliveries integer NOT NULL,
  error_code text NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  resolved_at timestamp with time zone,
  CONSTRAINT dead_letters_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX dead_letters_event ON dead_letters USING btree (consumer, event_id) WHERE (event_id IS NOT NULL);
CREATE INDEX dead_letters_unresolved ON dead_letters USING btree (created_at) WHERE (resolved_at IS NULL);

CREATE TABLE ended_memberships (
  membership_id text NOT NULL,
  ended_at timestamp with time zone NOT NULL,
  CONSTRAINT ended_memberships_pkey PRIMARY KEY (membership_id)
);
CREATE INDEX ended_memberships_by_time ON ended_memberships USING btree (ended_at);

CREATE TABLE epochs (
  epoch uuid NOT NULL,
  restored_to timestamp with time zone,
  began_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT epochs_pkey PRIMARY KEY (epoch),
  CONSTRAINT epochs_restored_to_unique UNIQUE (restored_to)
);

CREATE TABLE former_signing_keys (
  kid text NOT NULL,
  purpose text NOT NULL,
  public_jwk jsonb NOT NULL,
  kept_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT former_signing_keys_pkey PRIMARY KEY (kid)
);

CREATE TABLE inbox (
  consumer text NOT NULL,
  event_id uuid NOT NULL,
  received_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT inbox_pkey PRIMARY KEY (consumer, event_id)
);
CREATE INDEX inbox_by_age ON inbox USING brin (received_at);

CREATE TABLE inbox_versions (
  consumer text NOT NULL,
  aggregate text NOT NULL,
  epoch uuid DEFAULT '00000000-0000-0000-0000-000000000000'::uuid NOT NULL,
  version bigint NOT NULL,
  failures integer DEFAULT 0 NOT NULL,
  CONSTRAINT inbox_versions_pkey PRIMARY KEY (consumer, aggregate)
);

CREATE TABLE key_cutoffs (
  svc_user_id text NOT NULL,
  sessions_revoked_through text COLLATE "C" NOT NULL,
  CONSTRAINT key_cutoffs_pkey PRIMARY KEY (svc_user_id)
);

CREATE TABLE outbox (
  seq bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  id uuid NOT NULL,
  aggregate text NOT NULL,
  epoch uuid DEFAULT current_epoch() NOT NULL,
  version bigint NOT NULL,
  stream text NOT NULL,
  subject text NOT NULL,
  payload jsonb NOT NULL,
  traceparent text,
  occurred_at timestamp with time zone DEFAULT now() NOT NULL,
  published_at timestamp with time zone,
  stream_seq bigint,
  CONSTRAINT outbox_pkey PRIMARY KEY (seq),
  CONSTRAINT outbox_id_unique UNIQUE (id),
  CONSTRAINT outbox_version_positive CHECK ((version > 0))
);
CREATE INDEX outbox_revocations ON outbox USING btree (subject COLLATE "C") WHERE (stream = 'KV_revocations'::text);
CREATE INDEX outbox_unpublished ON outbox USING btree (stream, seq) WHERE (published_at IS NULL);

CREATE TABLE outbox_streams (
  stream text NOT NULL,
  created text NOT NULL,
  last_stream_seq bigint NOT NULL,
  last_event_id uuid NOT NULL,
  CONSTRAINT outbox_streams_pkey PRIMARY KEY (stream)
);

CREATE TABLE secret_checks (
  setting text NOT NULL,
  sealed bytea NOT NULL,
  CONSTRAINT secret_checks_pkey PRIMARY KEY (setting)
);

CREATE TABLE usage_callers (
  caller_number integer GENERATED ALWAYS AS IDENTITY NOT NULL,
  svc_user_id text NOT NULL,
  kind text NOT NULL,
  caller_id text NOT NULL,
  last_month date NOT NULL,
  CONSTRAINT usage_callers_pkey PRIMARY KEY (caller_number),
  CONSTRAINT usage_callers_once UNIQUE (svc_user_id, kind, caller_id),
  CONSTRAINT usage_callers_kind_known CHECK ((kind = ANY (ARRAY['delegated'::text, 'api_key'::text])))
);

CREATE TABLE usage_names (
  names_number integer GENERATED ALWAYS AS IDENTITY NOT NULL,
  digest uuid NOT NULL,
  last_month date NOT NULL,
  service text NOT NULL,
  model text NOT NULL,
  upstream_model text,
  provider text,
  route_id text,
  data_zone text,
  certification text,
  ingress_region text NOT NULL,
  CONSTRAINT usage_names_pkey PRIMARY KEY (names_number),
  CONSTRAINT usage_names_once UNIQUE (digest)
);

CREATE TABLE usage_rows (
  id uuid NOT NULL,
  started_at timestamp with time zone NOT NULL,
  cost_micros bigint NOT NULL,
  caller_number integer NOT NULL,
  names_number integer NOT NULL,
  duration_ms integer NOT NULL,
  input_tokens integer,
  output_tokens integer,
  cached_input_tokens integer,
  reasoning_tokens integer,
  audio_ms integer,
  first_event_ms integer,
  status smallint NOT NULL,
  outcome "char" NOT NULL,
  is_estimated boolean NOT NULL,
  streamed boolean NOT NULL,
  upstream_request_id text,
  CONSTRAINT usage_rows_pkey PRIMARY KEY (caller_number, id),
  CONSTRAINT usage_rows_cost_not_negative CHECK ((cost_micros >= 0)),
  CONSTRAINT usage_rows_outcome_known CHECK ((outcome = ANY (ARRAY['s'::"char", 'r'::"char", 'u'::"char"]))),
  CONSTRAINT usage_rows_released_is_free CHECK (((outcome <> 'r'::"char") OR (cost_micros = 0)))
) PARTITION BY RANGE (id);

CREATE TABLE usage_rows_other ( -- partition of usage_rows DEFAULT
  id uuid NOT NULL,
  started_at timestamp with time zone NOT NULL,
  cost_micros bigint NOT NULL,
  caller_number integer NOT NULL,
  names_number integer NOT NULL,
  duration_ms integer NOT NULL,
  input_tokens integer,
  output_tokens integer,
  cached_input_tokens integer,
  reasoning_tokens integer,
  audio_ms integer,
  first_event_ms integer,
  status smallint NOT NULL,
  outcome "char" NOT NULL,
  is_estimated boolean NOT NULL,
  streamed boolean NOT NULL,
  upstream_request_id text,
  CONSTRAINT usage_rows_other_pkey PRIMARY KEY (caller_number, id),
  CONSTRAINT usage_rows_cost_not_negative CHECK ((cost_micros >= 0)),
  CONSTRAINT usage_rows_outcome_known CHECK ((outcome = ANY (ARRAY['s'::"char", 'r'::"char", 'u'::"char"]))),
  CONSTRAINT usage_rows_released_is_free CHECK (((outcome <> 'r'::"char") OR (cost_micros = 0)))
);

CREATE VIEW usage_records AS
 SELECT id_of_uuid('req'::text, r.id) AS request_id,
    r.started_at,
    c.kind,
    c.svc_user_id,
        CASE c.kind
            WHEN 'delegated'::text THEN c.caller_id
            ELSE NULL::text
        END AS client_id,
        CASE c.kind
            WHEN 'api_key'::text THEN c.caller_id
            ELSE NULL::text
        END AS key_id,
    n.service,
    n.model,
    n.upstream_model,
    n.provider,
    n.route_id,
    n.data_zone,
    n.certification,
    n.ingress_region,
    r.upstream_request_id,
    r.input_tokens,
    r.cached_input_tokens,
    r.output_tokens,
    r.reasoning_tokens,
    r.audio_ms,
    r.is_estimated,
        CASE r.outcome
            WHEN 's'::"char" THEN 'settled'::text
            WHEN 'r'::"char" THEN 'released'::text
            ELSE 'uncertain'::text
        END AS outcome,
    r.cost_micros,
    r.status,
    r.streamed,
    r.first_event_ms,
    r.duration_ms,
    r.id,
    r.caller_number
   FROM usage_rows r
     JOIN usage_callers c USING (caller_number)
     JOIN usage_names n USING (names_number);
