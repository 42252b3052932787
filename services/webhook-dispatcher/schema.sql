-- Generated from the migrated database: do not edit. One file per service, so that a review sees the schema.

CREATE OR REPLACE FUNCTION public.mirror_to_aggregate_versions()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO aggregate_versions AS known (aggregate, version) VALUES (NEW.aggregate, NEW.version)
    ON CONFLICT (aggregate) DO UPDATE SET version = excluded.version
    WHERE known.version < excluded.version;
  RETURN NULL;
END
$function$
;

CREATE OR REPLACE FUNCTION public.mirror_to_inbox_versions()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO inbox_versions AS known (consumer, aggregate, version)
    VALUES ('webhook-dispatcher_connections', NEW.aggregate, NEW.version)
    ON CONFLICT (consumer, aggregate) DO UPDATE SET version = excluded.version
    WHERE known.version < excluded.version;
  RETURN NULL;
END
$function$
;

CREATE TABLE aggregate_versions (
  aggregate text NOT NULL,
  version integer NOT NULL,
  CONSTRAINT aggregate_versions_pkey PRIMARY KEY (aggregate),
  CONSTRAINT aggregate_versions_version_check CHECK ((version >= 0))
);
CREATE TRIGGER aggregate_versions_mirror AFTER INSERT OR UPDATE OF version ON aggregate_versions FOR EACH ROW EXECUTE FUNCTION mirror_to_inbox_versions();

CREATE TABLE app_activity (
  client_id text NOT NULL,
  day date NOT NULL,
  requests bigint NOT NULL,
  errors bigint NOT NULL,
  CONSTRAINT app_activity_pkey PRIMARY KEY (client_id, day),
  CONSTRAINT app_activity_check CHECK (((errors >= 0) AND (errors <= requests))),
  CONSTRAINT app_activity_requests_check CHECK ((requests >= 0))
);

CREATE TABLE configurations (
  client_id text NOT NULL,
  url text NOT NULL,
  generation integer NOT NULL,
  secret_key_id text NOT NULL,
  secret_sealed bytea NOT NULL,
  created_at timestamp with time zone NOT NULL,
  previous_key_id text,
  previous_sealed bytea,
  previous_expires_at timestamp with time zone,
  CONSTRAINT configurations_pkey PRIMARY KEY (client_id),
  CONSTRAINT configurations_generation_check CHECK ((generation >= 1)),
  CONSTRAINT configurations_previous CHECK ((num_nonnulls(previous_key_id, previous_sealed, previous_expires_at) = ANY (ARRAY[0, 3]))),
  CONSTRAINT configurations_url_check CHECK (((length(url) >= 1) AND (length(url) <= 2048)))
);

CREATE TABLE connections (
  svc_user_id text NOT NULL,
  client_id text NOT NULL,
  is_connected boolean NOT NULL,
  scope text NOT NULL,
  connected_at timestamp with time zone NOT NULL,
  told_revision integer DEFAULT 0 NOT NULL,
  CONSTRAINT connections_pkey PRIMARY KEY (svc_user_id, client_id)
);
CREATE INDEX connections_client_id ON connections USING btree (client_id);

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
  client_id text NOT NULL,
  sequence bigint NOT NULL,
  attempt integer NOT NULL,
  at timestamp with time zone NOT NULL,
  status_code integer,
  error text,
  duration_ms integer NOT NULL,
  CONSTRAINT delivery_attempts_pkey PRIMARY KEY (client_id, sequence, attempt),
  CONSTRAINT delivery_attempts_attempt_check CHECK ((attempt >= 1))
);

CREATE TABLE events (
  client_id text NOT NULL,
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
  CONSTRAINT events_pkey PRIMARY KEY (client_id, sequence),
  CONSTRAINT events_event_id UNIQUE (event_id),
  CONSTRAINT events_attempts_check CHECK ((attempts >= 0)),
  CONSTRAINT events_attempts_in_round_check CHECK (((attempts_in_round >= 0) AND (attempts_in_round <= 8))),
  CONSTRAINT events_sequence_check CHECK ((sequence >= 1)),
  CONSTRAINT events_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'delivered'::text, 'failed'::text, 'skipped'::text, 'cancelled'::text])))
) WITH (fillfactor=85);
CREATE INDEX events_created ON events USING brin (created);
CREATE UNIQUE INDEX events_fact ON events USING btree (fact_id, client_id, event) WHERE (fact_id IS NOT NULL);

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
  version bigint NOT NULL,
  failures integer DEFAULT 0 NOT NULL,
  epoch uuid DEFAULT '00000000-0000-0000-0000-000000000000'::uuid NOT NULL,
  CONSTRAINT inbox_versions_pkey PRIMARY KEY (consumer, aggregate)
);
CREATE TRIGGER inbox_versions_mirror AFTER INSERT OR UPDATE OF version ON inbox_versions FOR EACH ROW WHEN ((new.consumer = 'webhook-dispatcher_connections'::text)) EXECUTE FUNCTION mirror_to_aggregate_versions();

CREATE TABLE lane_alarms (
  client_id text NOT NULL,
  sequence bigint NOT NULL,
  attempts integer NOT NULL,
  change text NOT NULL,
  is_mailed boolean DEFAULT false NOT NULL,
  CONSTRAINT lane_alarms_pkey PRIMARY KEY (client_id),
  CONSTRAINT lane_alarms_client_id_fkey FOREIGN KEY (client_id) REFERENCES lanes(client_id) ON DELETE CASCADE,
  CONSTRAINT lane_alarms_change_check CHECK ((change = ANY (ARRAY['blocked'::text, 'recovered'::text])))
);
CREATE INDEX lane_alarms_to_mail ON lane_alarms USING btree (client_id) WHERE (NOT is_mailed);

CREATE TABLE lanes (
  client_id text NOT NULL,
  generation integer NOT NULL,
  last_sequence bigint DEFAULT 0 NOT NULL,
  done_sequence bigint DEFAULT 0 NOT NULL,
  blocked_sequence bigint,
  due_at timestamp with time zone,
  leased_until timestamp with time zone,
  lease_token bigint DEFAULT 0 NOT NULL,
  pace text DEFAULT 'unknown'::text NOT NULL,
  secret_version integer DEFAULT 1 NOT NULL,
  CONSTRAINT lanes_pkey PRIMARY KEY (client_id),
  CONSTRAINT lanes_blocked CHECK (((blocked_sequence IS NULL) OR ((blocked_sequence = (done_sequence + 1)) AND (due_at IS NULL)))),
  CONSTRAINT lanes_idle CHECK (((due_at IS NULL) OR (done_sequence < last_sequence))),
  CONSTRAINT lanes_lease CHECK (((leased_until IS NULL) OR (due_at = leased_until))),
  CONSTRAINT lanes_pace_check CHECK ((pace = ANY (ARRAY['prompt'::text, 'unknown'::text, 'slow'::text]))),
  CONSTRAINT lanes_sequences CHECK (((done_sequence >= 0) AND (done_sequence <= last_sequence)))
) WITH (fillfactor=50, autovacuum_vacuum_scale_factor=0.02);
CREATE INDEX lanes_blocked_apps ON lanes USING btree (client_id) WHERE (blocked_sequence IS NOT NULL);
CREATE INDEX lanes_due ON lanes USING btree (pace, due_at) WHERE (due_at IS NOT NULL);
