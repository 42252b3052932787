-- Generated from the migrated database: do not edit. Functions are in migrations/functions, one file each.

CREATE TABLE app_activity (
  client_id text NOT NULL,
  day date NOT NULL,
  requests bigint NOT NULL,
  errors bigint NOT NULL,
  CONSTRAINT app_activity_pkey PRIMARY KEY (client_id, day),
  CONSTRAINT app_activity_check CHECK (((errors >= 0) AND (errors <= requests))),
  CONSTRAINT app_activity_requests_check CHECK ((requests >= 0))
);

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

CREATE TABLE configurations (
  owner_id text NOT NULL,
  account_id text NOT NULL,
  url text NOT NULL,
  generation integer NOT NULL,
  secret_sealed bytea NOT NULL,
  previous_sealed bytea,
  previous_expires_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT configurations_pkey PRIMARY KEY (owner_id),
  CONSTRAINT configurations_generation_check CHECK ((generation >= 1)),
  CONSTRAINT configurations_previous CHECK (((previous_sealed IS NULL) = (previous_expires_at IS NULL))),
  CONSTRAINT configurations_url_check CHECK (((length(url) >= 1) AND (length(url) <= 2048)))
);
CREATE INDEX configurations_by_account ON configurations USING btree (account_id, owner_id);
CREATE INDEX configurations_by_key ON configurations USING btree (substr(secret_sealed, 1, 8));
CREATE INDEX configurations_by_previous_key ON configurations USING btree (substr(previous_sealed, 1, 8)) WHERE (previous_sealed IS NOT NULL);

CREATE TABLE connections (
  svc_user_id text NOT NULL,
  client_id text NOT NULL,
  is_connected boolean NOT NULL,
  scope text NOT NULL,
  connected_at timestamp with time zone NOT NULL,
  told_revision integer DEFAULT 0 NOT NULL,
  CONSTRAINT connections_pkey PRIMARY KEY (svc_user_id, client_id)
);
CREATE INDEX connections_by_app ON connections USING btree (client_id, connected_at);

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

CREATE TABLE delivery_attempts (
  owner_id text NOT NULL,
  sequence bigint NOT NULL,
  attempt integer NOT NULL,
  at timestamp with time zone NOT NULL,
  status_code integer,
  error text,
  duration_ms integer NOT NULL,
  CONSTRAINT delivery_attempts_pkey PRIMARY KEY (owner_id, sequence, attempt),
  CONSTRAINT delivery_attempts_attempt_check CHECK ((attempt >= 1))
);
CREATE INDEX delivery_attempts_by_time ON delivery_attempts USING btree (owner_id, at);

CREATE TABLE ended_lanes (
  owner_id text NOT NULL,
  ended_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT ended_lanes_pkey PRIMARY KEY (owner_id)
);

CREATE TABLE events (
  owner_id text NOT NULL,
  svc_user_id text,
  sequence bigint NOT NULL,
  event_id text NOT NULL,
  generation integer NOT NULL,
  event text NOT NULL,
  fact_id uuid,
  body bytea NOT NULL,
  created bigint NOT NULL,
  status text DEFAULT 'queued'::text NOT NULL,
  attempts integer DEFAULT 0 NOT NULL,
  attempts_in_round integer DEFAULT 0 NOT NULL,
  delivered_at timestamp with time zone,
  CONSTRAINT events_pkey PRIMARY KEY (owner_id, sequence),
  CONSTRAINT events_event_id UNIQUE (event_id),
  CONSTRAINT events_attempts_check CHECK ((attempts >= 0)),
  CONSTRAINT events_attempts_in_round_check CHECK (((attempts_in_round >= 0) AND (attempts_in_round <= 8))),
  CONSTRAINT events_sequence_check CHECK ((sequence >= 1)),
  CONSTRAINT events_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'delivered'::text, 'failed'::text, 'skipped'::text])))
) WITH (fillfactor=85);
CREATE INDEX events_by_person ON events USING btree (svc_user_id, owner_id, sequence);
CREATE UNIQUE INDEX events_fact ON events USING btree (fact_id, owner_id, event) WHERE (fact_id IS NOT NULL);

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

CREATE TABLE lane_alarms (
  owner_id text NOT NULL,
  sequence bigint NOT NULL,
  attempts integer NOT NULL,
  change text NOT NULL,
  is_mailed boolean DEFAULT false NOT NULL,
  claimed_until timestamp with time zone,
  CONSTRAINT lane_alarms_pkey PRIMARY KEY (owner_id),
  CONSTRAINT lane_alarms_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES lanes(owner_id) ON DELETE CASCADE,
  CONSTRAINT lane_alarms_change_check CHECK ((change = ANY (ARRAY['blocked'::text, 'paused'::text, 'recovered'::text])))
);
CREATE INDEX lane_alarms_to_mail ON lane_alarms USING btree (owner_id) WHERE (NOT is_mailed);

CREATE TABLE lanes (
  owner_id text NOT NULL,
  generation integer NOT NULL,
  secret_version integer DEFAULT 1 NOT NULL,
  last_sequence bigint DEFAULT 0 NOT NULL,
  done_sequence bigint DEFAULT 0 NOT NULL,
  blocked_sequence bigint,
  paused_at timestamp with time zone,
  due_at timestamp with time zone,
  leased_until timestamp with time zone,
  lease_token bigint DEFAULT 0 NOT NULL,
  is_off boolean DEFAULT false NOT NULL,
  pace text DEFAULT 'unknown'::text NOT NULL,
  CONSTRAINT lanes_pkey PRIMARY KEY (owner_id),
  CONSTRAINT lanes_blocked CHECK (((blocked_sequence IS NULL) OR ((blocked_sequence = (done_sequence + 1)) AND (due_at IS NULL)))),
  CONSTRAINT lanes_idle CHECK (((due_at IS NULL) OR (done_sequence < last_sequence))),
  CONSTRAINT lanes_lease CHECK (((leased_until IS NULL) OR (due_at = leased_until))),
  CONSTRAINT lanes_pace_check CHECK ((pace = ANY (ARRAY['prompt'::text, 'unknown'::text, 'slow'::text]))),
  CONSTRAINT lanes_paused CHECK (((paused_at IS NULL) OR (blocked_sequence IS NOT NULL))),
  CONSTRAINT lanes_sequences CHECK (((done_sequence >= 0) AND (done_sequence <= last_sequence)))
) WITH (fillfactor=50, autovacuum_vacuum_scale_factor=0.02);
CREATE INDEX lanes_blocked_owners ON lanes USING btree (owner_id) WHERE (blocked_sequence IS NOT NULL);
CREATE INDEX lanes_due ON lanes USING btree (pace, due_at) WHERE (due_at IS NOT NULL);

CREATE TABLE secret_checks (
  setting text NOT NULL,
  sealed bytea NOT NULL,
  CONSTRAINT secret_checks_pkey PRIMARY KEY (setting)
);
