-- Generated from the migrated database: do not edit. Functions are in migrations/functions, one file each.

CREATE TYPE posting_kind AS ENUM ('top_up', 'settlement', 'adjustment', 'refund');

CREATE SEQUENCE provider_tickets AS bigint START 1 INCREMENT 1;

CREATE TABLE account_endings (
  svc_user_id text NOT NULL,
  wanted text NOT NULL,
  cancelled_subscription_id text,
  is_applied boolean DEFAULT false NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT account_endings_pkey PRIMARY KEY (svc_user_id),
  CONSTRAINT account_endings_wanted_check CHECK ((wanted = ANY (ARRAY['cancel'::text, 'keep'::text, 'erase'::text])))
);
CREATE INDEX account_endings_waiting ON account_endings USING btree (updated_at) WHERE (NOT is_applied);

CREATE TABLE accounts (
  svc_user_id text NOT NULL,
  status text NOT NULL,
  plan_id text NOT NULL,
  past_due_since timestamp with time zone,
  anchor timestamp with time zone NOT NULL,
  "interval" text NOT NULL,
  period_start timestamp with time zone NOT NULL,
  period_end timestamp with time zone NOT NULL,
  week_start timestamp with time zone NOT NULL,
  week_end timestamp with time zone NOT NULL,
  week_used_micros bigint DEFAULT 0 NOT NULL,
  month_start timestamp with time zone NOT NULL,
  month_end timestamp with time zone NOT NULL,
  month_used_micros bigint DEFAULT 0 NOT NULL,
  pending integer DEFAULT 0 NOT NULL,
  has_app_budgets boolean DEFAULT false NOT NULL,
  paid_by text,
  CONSTRAINT accounts_pkey PRIMARY KEY (svc_user_id),
  CONSTRAINT accounts_sound CHECK (account_is_sound(anchor, "interval", period_start, period_end, week_used_micros, month_used_micros, pending))
) WITH (fillfactor=50);
CREATE TRIGGER accounts_alerts AFTER UPDATE OF week_used_micros, month_used_micros ON accounts FOR EACH ROW EXECUTE FUNCTION account_alerts_follow();

CREATE TABLE alert_settings (
  svc_user_id text NOT NULL,
  thresholds_percent integer[] NOT NULL,
  wallet_below_micros bigint,
  CONSTRAINT alert_settings_pkey PRIMARY KEY (svc_user_id),
  CONSTRAINT alert_settings_thresholds_percent_check CHECK (((1 <= ALL (thresholds_percent)) AND (100 >= ALL (thresholds_percent)))),
  CONSTRAINT alert_settings_wallet_below_micros_check CHECK ((wallet_below_micros > 0))
);

CREATE TABLE app_budgets (
  svc_user_id text NOT NULL,
  client_id text NOT NULL,
  is_paused boolean NOT NULL,
  limit_micros bigint,
  period text,
  expires_at timestamp with time zone,
  limited_since timestamp with time zone,
  window_start timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
  used_micros bigint DEFAULT 0 NOT NULL,
  held_micros bigint DEFAULT 0 NOT NULL,
  uncertain_micros bigint DEFAULT 0 NOT NULL,
  total_used_micros bigint DEFAULT 0 NOT NULL,
  CONSTRAINT app_budgets_pkey PRIMARY KEY (svc_user_id, client_id),
  CONSTRAINT app_budgets_expiry CHECK (((expires_at IS NULL) OR (limit_micros IS NOT NULL))),
  CONSTRAINT app_budgets_held_micros_check CHECK ((held_micros >= 0)),
  CONSTRAINT app_budgets_limit_micros_check CHECK ((limit_micros >= 0)),
  CONSTRAINT app_budgets_period CHECK (((limit_micros IS NULL) = (period IS NULL))),
  CONSTRAINT app_budgets_period_check CHECK ((period = ANY (ARRAY['week'::text, 'month'::text, 'total'::text]))),
  CONSTRAINT app_budgets_since CHECK (((limit_micros IS NULL) = (limited_since IS NULL))),
  CONSTRAINT app_budgets_total_used_micros_check CHECK ((total_used_micros >= 0)),
  CONSTRAINT app_budgets_uncertain_micros_check CHECK ((uncertain_micros >= 0)),
  CONSTRAINT app_budgets_used_micros_check CHECK ((used_micros >= 0))
) WITH (fillfactor=50);
CREATE TRIGGER app_budgets_alerts AFTER UPDATE OF used_micros, uncertain_micros ON app_budgets FOR EACH ROW EXECUTE FUNCTION app_budget_alerts_follow();

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

CREATE TABLE auto_top_ups (
  svc_user_id text NOT NULL,
  is_enabled boolean NOT NULL,
  below_micros bigint NOT NULL,
  amount_micros bigint NOT NULL,
  monthly_max_micros bigint NOT NULL,
  CONSTRAINT auto_top_ups_pkey PRIMARY KEY (svc_user_id),
  CONSTRAINT auto_top_ups_amount_micros_check CHECK ((amount_micros > 0)),
  CONSTRAINT auto_top_ups_below_micros_check CHECK ((below_micros >= 0)),
  CONSTRAINT auto_top_ups_monthly_max_micros_check CHECK ((monthly_max_micros >= 0))
);
CREATE INDEX auto_top_ups_enabled ON auto_top_ups USING btree (svc_user_id) WHERE is_enabled;

CREATE TABLE checkout_sessions (
  id text NOT NULL,
  svc_user_id text NOT NULL,
  kind text NOT NULL,
  plan_id text,
  quantity integer,
  amount_micros bigint,
  asked_micros bigint NOT NULL,
  asked_currency text NOT NULL,
  provider_session_id text,
  is_automatic boolean DEFAULT false NOT NULL,
  is_confirmed boolean DEFAULT false NOT NULL,
  status text DEFAULT 'open'::text NOT NULL,
  subscription_id text,
  paid_micros bigint,
  paid_currency text,
  mismatched_subscription_id text,
  created_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  completed_at timestamp with time zone,
  invoiced_at timestamp with time zone,
  CONSTRAINT checkout_sessions_pkey PRIMARY KEY (id),
  CONSTRAINT checkout_sessions_of_provider UNIQUE (provider_session_id),
  CONSTRAINT checkout_sessions_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES plans(id),
  CONSTRAINT checkout_sessions_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscriptions(id),
  CONSTRAINT checkout_sessions_amount CHECK (((amount_micros IS NOT NULL) = (kind = 'top_up'::text))),
  CONSTRAINT checkout_sessions_amount_micros_check CHECK ((amount_micros > 0)),
  CONSTRAINT checkout_sessions_asked_micros_check CHECK ((asked_micros >= 0)),
  CONSTRAINT checkout_sessions_completed CHECK (((completed_at IS NOT NULL) = (status = ANY (ARRAY['complete'::text, 'void'::text, 'mismatched'::text])))),
  CONSTRAINT checkout_sessions_kind_check CHECK ((kind = ANY (ARRAY['subscription'::text, 'top_up'::text, 'seats'::text]))),
  CONSTRAINT checkout_sessions_plan CHECK (((plan_id IS NOT NULL) = (kind = ANY (ARRAY['subscription'::text, 'seats'::text])))),
  CONSTRAINT checkout_sessions_quantity CHECK (((quantity IS NOT NULL) = (kind = 'seats'::text))),
  CONSTRAINT checkout_sessions_quantity_check CHECK ((quantity > 0)),
  CONSTRAINT checkout_sessions_status_check CHECK ((status = ANY (ARRAY['open'::text, 'complete'::text, 'expired'::text, 'void'::text, 'mismatched'::text])))
);
CREATE INDEX checkout_sessions_automatic ON checkout_sessions USING btree (svc_user_id, created_at) WHERE is_automatic;
CREATE INDEX checkout_sessions_by_account ON checkout_sessions USING btree (svc_user_id);
CREATE INDEX checkout_sessions_mismatched ON checkout_sessions USING btree (completed_at) WHERE (status = 'mismatched'::text);
CREATE UNIQUE INDEX checkout_sessions_one_automatic ON checkout_sessions USING btree (svc_user_id) WHERE (is_automatic AND (status = 'open'::text));
CREATE INDEX checkout_sessions_open_by_account ON checkout_sessions USING btree (svc_user_id) WHERE (status = 'open'::text);
CREATE INDEX checkout_sessions_open_by_expiry ON checkout_sessions USING btree (expires_at) WHERE (status = 'open'::text);
CREATE INDEX checkout_sessions_without_invoice ON checkout_sessions USING btree (completed_at) WHERE (is_automatic AND (status = 'complete'::text) AND (invoiced_at IS NULL));

CREATE TABLE customers (
  svc_user_id text NOT NULL,
  revision integer DEFAULT 0 NOT NULL,
  current_subscription_id text,
  announced_epoch uuid DEFAULT current_epoch() NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT customers_pkey PRIMARY KEY (svc_user_id)
);

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

CREATE TABLE deferred_items (
  work text NOT NULL,
  item text NOT NULL,
  attempts integer NOT NULL,
  reason text NOT NULL,
  due_at timestamp with time zone NOT NULL,
  CONSTRAINT deferred_items_pkey PRIMARY KEY (work, item),
  CONSTRAINT deferred_items_attempts_check CHECK ((attempts > 0))
);
CREATE INDEX deferred_items_due ON deferred_items USING btree (work, due_at);

CREATE TABLE ended_key_requests (
  id uuid NOT NULL,
  cost_micros bigint NOT NULL,
  written_off_micros bigint,
  posting_id bigint,
  ended_at timestamp with time zone NOT NULL,
  key_number integer NOT NULL,
  month smallint,
  ending "char" NOT NULL,
  CONSTRAINT ended_key_requests_pkey PRIMARY KEY (id),
  CONSTRAINT ended_key_requests_check CHECK (((written_off_micros >= 1) AND (written_off_micros <= cost_micros))),
  CONSTRAINT ended_key_requests_cost_micros_check CHECK ((cost_micros >= 0)),
  CONSTRAINT ended_key_requests_ending_check CHECK ((ending = ANY (ARRAY['u'::"char", 'e'::"char", 'r'::"char"])))
) PARTITION BY RANGE (id);
CREATE INDEX ended_key_requests_by_key ON ONLY public.ended_key_requests USING btree (key_number);

CREATE TABLE ended_key_requests_other ( -- partition of ended_key_requests DEFAULT
  id uuid NOT NULL,
  cost_micros bigint NOT NULL,
  written_off_micros bigint,
  posting_id bigint,
  ended_at timestamp with time zone NOT NULL,
  key_number integer NOT NULL,
  month smallint,
  ending "char" NOT NULL,
  CONSTRAINT ended_key_requests_other_pkey PRIMARY KEY (id),
  CONSTRAINT ended_key_requests_check CHECK (((written_off_micros >= 1) AND (written_off_micros <= cost_micros))),
  CONSTRAINT ended_key_requests_cost_micros_check CHECK ((cost_micros >= 0)),
  CONSTRAINT ended_key_requests_ending_check CHECK ((ending = ANY (ARRAY['u'::"char", 'e'::"char", 'r'::"char"])))
);
CREATE INDEX ended_key_requests_other_key_number_idx ON ended_key_requests_other USING btree (key_number);

CREATE TABLE ended_memberships (
  membership_id text NOT NULL,
  organization_id text NOT NULL,
  ended_at timestamp with time zone NOT NULL,
  CONSTRAINT ended_memberships_pkey PRIMARY KEY (membership_id)
);

CREATE TABLE ended_reservations ( -- partition of reservations FOR VALUES IN ('settled', 'released')
  request_id text NOT NULL,
  kind text NOT NULL,
  svc_user_id text NOT NULL,
  client_id text,
  service text,
  idempotency_key_hash bytea,
  holder_id text,
  state text DEFAULT 'reserved'::text NOT NULL,
  estimate_micros bigint NOT NULL,
  budget_micros bigint,
  cost_micros bigint,
  settled_by text,
  week_start timestamp with time zone,
  month_start timestamp with time zone NOT NULL,
  created_at timestamp with time zone NOT NULL,
  uncertain_at timestamp with time zone,
  ended_at timestamp with time zone,
  adjusted_at timestamp with time zone,
  extra_month timestamp with time zone,
  CONSTRAINT ended_reservations_pkey PRIMARY KEY (request_id),
  CONSTRAINT reservations_sound CHECK (reservation_is_sound(kind, client_id, service, week_start, state, estimate_micros, cost_micros, settled_by, ended_at))
) PARTITION BY RANGE (request_id);
CREATE INDEX ended_reservations_svc_user_id_client_id_idempotency_key_ha_idx ON ONLY public.ended_reservations USING btree (svc_user_id, client_id, idempotency_key_hash) WHERE (idempotency_key_hash IS NOT NULL);
CREATE INDEX ended_reservations_svc_user_id_idx ON ONLY public.ended_reservations USING btree (svc_user_id);

CREATE TABLE ended_reservations_other ( -- partition of ended_reservations DEFAULT
  request_id text NOT NULL,
  kind text NOT NULL,
  svc_user_id text NOT NULL,
  client_id text,
  service text,
  idempotency_key_hash bytea,
  holder_id text,
  state text DEFAULT 'reserved'::text NOT NULL,
  estimate_micros bigint NOT NULL,
  budget_micros bigint,
  cost_micros bigint,
  settled_by text,
  week_start timestamp with time zone,
  month_start timestamp with time zone NOT NULL,
  created_at timestamp with time zone NOT NULL,
  uncertain_at timestamp with time zone,
  ended_at timestamp with time zone,
  adjusted_at timestamp with time zone,
  extra_month timestamp with time zone,
  CONSTRAINT ended_reservations_other_pkey PRIMARY KEY (request_id),
  CONSTRAINT reservations_sound CHECK (reservation_is_sound(kind, client_id, service, week_start, state, estimate_micros, cost_micros, settled_by, ended_at))
);
CREATE INDEX ended_reservations_other_svc_user_id_client_id_idempotency__idx ON ended_reservations_other USING btree (svc_user_id, client_id, idempotency_key_hash) WHERE (idempotency_key_hash IS NOT NULL);
CREATE INDEX ended_reservations_other_svc_user_id_idx ON ended_reservations_other USING btree (svc_user_id);

CREATE TABLE epochs (
  epoch uuid NOT NULL,
  restored_to timestamp with time zone,
  began_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT epochs_pkey PRIMARY KEY (epoch),
  CONSTRAINT epochs_restored_to_unique UNIQUE (restored_to)
);

CREATE TABLE extra_usage (
  svc_user_id text NOT NULL,
  is_enabled boolean NOT NULL,
  monthly_max_micros bigint NOT NULL,
  month_start timestamp with time zone NOT NULL,
  used_micros bigint DEFAULT 0 NOT NULL,
  held_micros bigint DEFAULT 0 NOT NULL,
  CONSTRAINT extra_usage_pkey PRIMARY KEY (svc_user_id),
  CONSTRAINT extra_usage_held_micros_check CHECK ((held_micros >= 0)),
  CONSTRAINT extra_usage_monthly_max_micros_check CHECK ((monthly_max_micros >= 0)),
  CONSTRAINT extra_usage_used_micros_check CHECK ((used_micros >= 0))
) WITH (fillfactor=50);
CREATE TRIGGER extra_usage_alerts AFTER UPDATE OF used_micros ON extra_usage FOR EACH ROW EXECUTE FUNCTION extra_alerts_follow();

CREATE TABLE finished_restores (
  epoch uuid NOT NULL,
  finished_at timestamp with time zone NOT NULL,
  CONSTRAINT finished_restores_pkey PRIMARY KEY (epoch),
  CONSTRAINT finished_restores_epoch_fkey FOREIGN KEY (epoch) REFERENCES epochs(epoch)
);

CREATE TABLE former_signing_keys (
  kid text NOT NULL,
  purpose text NOT NULL,
  public_jwk jsonb NOT NULL,
  kept_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT former_signing_keys_pkey PRIMARY KEY (kid)
);

CREATE TABLE holders (
  holder_id text NOT NULL,
  internal_url text NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT holders_pkey PRIMARY KEY (holder_id)
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

CREATE TABLE key_budgets (
  key_id text NOT NULL,
  svc_user_id text NOT NULL,
  minute_start timestamp with time zone NOT NULL,
  minute_count integer DEFAULT 0 NOT NULL,
  minute_tokens bigint DEFAULT 0 NOT NULL,
  month_start timestamp with time zone NOT NULL,
  month_used_micros bigint DEFAULT 0 NOT NULL,
  month_limit_micros bigint,
  member_id text,
  CONSTRAINT key_budgets_pkey PRIMARY KEY (key_id),
  CONSTRAINT key_budgets_minute_count_check CHECK ((minute_count >= 0)),
  CONSTRAINT key_budgets_minute_tokens_check CHECK ((minute_tokens >= 0)),
  CONSTRAINT key_budgets_month_used_micros_check CHECK ((month_used_micros >= 0))
) WITH (fillfactor=50);
CREATE INDEX key_budgets_by_member ON key_budgets USING btree (svc_user_id, member_id) WHERE (member_id IS NOT NULL);
CREATE TRIGGER key_budgets_alerts AFTER UPDATE OF month_used_micros ON key_budgets FOR EACH ROW EXECUTE FUNCTION key_alerts_follow();

CREATE TABLE key_idempotency (
  key_id text NOT NULL,
  idempotency_key_hash bytea NOT NULL,
  request_id text NOT NULL,
  lease_id uuid NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT key_idempotency_pkey PRIMARY KEY (key_id, idempotency_key_hash)
);
CREATE INDEX key_idempotency_by_age ON key_idempotency USING btree (created_at);

CREATE TABLE leases (
  lease_id uuid NOT NULL,
  holder_id uuid NOT NULL,
  svc_user_id text NOT NULL,
  key_id text NOT NULL,
  month_start timestamp with time zone NOT NULL,
  granted_micros bigint DEFAULT 0 NOT NULL,
  returned_micros bigint DEFAULT 0 NOT NULL,
  settled_micros bigint DEFAULT 0 NOT NULL,
  known_micros bigint DEFAULT 0 NOT NULL,
  minute_start timestamp with time zone NOT NULL,
  granted_requests bigint DEFAULT 0 NOT NULL,
  returned_requests bigint DEFAULT 0 NOT NULL,
  granted_tokens bigint DEFAULT 0 NOT NULL,
  returned_tokens bigint DEFAULT 0 NOT NULL,
  reported_at timestamp with time zone NOT NULL,
  ended_at timestamp with time zone,
  is_remembered boolean DEFAULT false NOT NULL,
  estimated_micros bigint,
  CONSTRAINT leases_pkey PRIMARY KEY (lease_id),
  CONSTRAINT leases_estimated_micros_check CHECK ((estimated_micros >= 0)),
  CONSTRAINT leases_sound CHECK (lease_is_sound(granted_micros, returned_micros, settled_micros, granted_requests, returned_requests, granted_tokens, returned_tokens))
) WITH (fillfactor=50);
CREATE INDEX leases_by_account ON leases USING btree (svc_user_id);

CREATE TABLE ledger_postings (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  posted_at timestamp with time zone NOT NULL,
  wallet_available_micros bigint,
  payments_received_micros bigint,
  income_micros bigint,
  write_offs_micros bigint,
  kind posting_kind NOT NULL,
  currency text NOT NULL,
  svc_user_id text NOT NULL,
  reference text,
  CONSTRAINT ledger_postings_pkey PRIMARY KEY (id),
  CONSTRAINT ledger_postings_balanced CHECK (((((COALESCE(wallet_available_micros, (0)::bigint) + COALESCE(payments_received_micros, (0)::bigint)) + COALESCE(income_micros, (0)::bigint)) + COALESCE(write_offs_micros, (0)::bigint)) = 0)),
  CONSTRAINT ledger_postings_change_books CHECK (((COALESCE(wallet_available_micros, payments_received_micros, income_micros, write_offs_micros) IS NOT NULL) AND ((((0 <> COALESCE(wallet_available_micros, (1)::bigint)) AND (0 <> COALESCE(payments_received_micros, (1)::bigint))) AND (0 <> COALESCE(income_micros, (1)::bigint))) AND (0 <> COALESCE(write_offs_micros, (1)::bigint))))),
  CONSTRAINT ledger_postings_check CHECK (((reference IS NOT NULL) OR (kind = 'settlement'::posting_kind))),
  CONSTRAINT ledger_postings_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text))
);
CREATE INDEX ledger_postings_by_account ON ledger_postings USING btree (svc_user_id);
CREATE INDEX ledger_postings_of_funds ON ledger_postings USING btree (svc_user_id, id) WHERE (kind = ANY (ARRAY['top_up'::posting_kind, 'refund'::posting_kind, 'adjustment'::posting_kind]));
CREATE UNIQUE INDEX ledger_postings_once ON ledger_postings USING btree (reference, kind) WHERE (reference IS NOT NULL);
CREATE TRIGGER ledger_postings_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_postings FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();

CREATE TABLE member_limits (
  svc_user_id text NOT NULL,
  member_id text NOT NULL,
  monthly_limit_micros bigint NOT NULL,
  CONSTRAINT member_limits_pkey PRIMARY KEY (svc_user_id, member_id),
  CONSTRAINT member_limits_monthly_limit_micros_check CHECK ((monthly_limit_micros >= 0))
);

CREATE TABLE member_usage_days (
  svc_user_id text NOT NULL,
  day date NOT NULL,
  member_id text NOT NULL,
  requests integer NOT NULL,
  paid_micros bigint NOT NULL,
  CONSTRAINT member_usage_days_pkey PRIMARY KEY (svc_user_id, day, member_id),
  CONSTRAINT member_usage_days_requests_check CHECK ((requests >= 0))
) WITH (fillfactor=70);

CREATE TABLE open_reservations ( -- partition of reservations FOR VALUES IN ('reserved', 'uncertain')
  request_id text NOT NULL,
  kind text NOT NULL,
  svc_user_id text NOT NULL,
  client_id text,
  service text,
  idempotency_key_hash bytea,
  holder_id text,
  state text DEFAULT 'reserved'::text NOT NULL,
  estimate_micros bigint NOT NULL,
  budget_micros bigint,
  cost_micros bigint,
  settled_by text,
  week_start timestamp with time zone,
  month_start timestamp with time zone NOT NULL,
  created_at timestamp with time zone NOT NULL,
  uncertain_at timestamp with time zone,
  ended_at timestamp with time zone,
  adjusted_at timestamp with time zone,
  extra_month timestamp with time zone,
  CONSTRAINT open_reservations_pkey PRIMARY KEY (request_id),
  CONSTRAINT reservations_sound CHECK (reservation_is_sound(kind, client_id, service, week_start, state, estimate_micros, cost_micros, settled_by, ended_at))
) WITH (fillfactor=80);
CREATE INDEX open_reservations_svc_user_id_client_id_idempotency_key_has_idx ON open_reservations USING btree (svc_user_id, client_id, idempotency_key_hash) WHERE (idempotency_key_hash IS NOT NULL);
CREATE INDEX open_reservations_svc_user_id_idx ON open_reservations USING btree (svc_user_id);
CREATE INDEX reservations_by_holder ON open_reservations USING btree (holder_id, created_at) WHERE (state = 'reserved'::text);
CREATE INDEX reservations_uncertain ON open_reservations USING btree (uncertain_at) WHERE (state = 'uncertain'::text);

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

CREATE TABLE payment_reversals (
  provider_reversal_id text NOT NULL,
  svc_user_id text NOT NULL,
  session_id text NOT NULL,
  kind text NOT NULL,
  amount_micros bigint NOT NULL,
  changes integer DEFAULT 1 NOT NULL,
  provider_ticket bigint NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT payment_reversals_pkey PRIMARY KEY (provider_reversal_id),
  CONSTRAINT payment_reversals_session_id_fkey FOREIGN KEY (session_id) REFERENCES checkout_sessions(id),
  CONSTRAINT payment_reversals_amount_micros_check CHECK ((amount_micros >= 0)),
  CONSTRAINT payment_reversals_kind_check CHECK ((kind = ANY (ARRAY['refund'::text, 'dispute'::text])))
);
CREATE INDEX payment_reversals_by_account ON payment_reversals USING btree (svc_user_id);
CREATE INDEX payment_reversals_by_session ON payment_reversals USING btree (session_id);

CREATE TABLE plans (
  id text NOT NULL,
  name text NOT NULL,
  "interval" text NOT NULL,
  includes_chat boolean NOT NULL,
  includes_audio_transcription boolean NOT NULL,
  weekly_limit_micros bigint NOT NULL,
  monthly_limit_micros bigint NOT NULL,
  is_offered boolean NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT plans_pkey PRIMARY KEY (id),
  CONSTRAINT plans_interval_check CHECK (("interval" = ANY (ARRAY['month'::text, 'year'::text]))),
  CONSTRAINT plans_monthly_limit_micros_check CHECK ((monthly_limit_micros >= 0)),
  CONSTRAINT plans_weekly_limit_micros_check CHECK ((weekly_limit_micros >= 0))
);

CREATE TABLE raised_alerts (
  svc_user_id text NOT NULL,
  subject text NOT NULL,
  subject_id text NOT NULL,
  window_id bigint NOT NULL,
  percent integer NOT NULL,
  CONSTRAINT raised_alerts_pkey PRIMARY KEY (svc_user_id, subject, subject_id),
  CONSTRAINT raised_alerts_subject_check CHECK ((subject = ANY (ARRAY['weekly_cap'::text, 'monthly_cap'::text, 'app_budget'::text, 'extra_use'::text, 'api_key'::text, 'wallet'::text])))
);

CREATE TABLE request_details (
  id uuid NOT NULL,
  input_tokens integer,
  output_tokens integer,
  cached_input_tokens integer,
  audio_ms integer,
  CONSTRAINT request_details_pkey PRIMARY KEY (id)
) PARTITION BY RANGE (id);

CREATE TABLE request_details_other ( -- partition of request_details DEFAULT
  id uuid NOT NULL,
  input_tokens integer,
  output_tokens integer,
  cached_input_tokens integer,
  audio_ms integer,
  CONSTRAINT request_details_other_pkey PRIMARY KEY (id)
);

CREATE TABLE request_keys (
  key_number integer GENERATED ALWAYS AS IDENTITY NOT NULL,
  svc_user_id text NOT NULL,
  key_id text NOT NULL,
  CONSTRAINT request_keys_pkey PRIMARY KEY (key_number),
  CONSTRAINT request_keys_once UNIQUE (svc_user_id, key_id)
);

CREATE TABLE reservations (
  request_id text NOT NULL,
  kind text NOT NULL,
  svc_user_id text NOT NULL,
  client_id text,
  service text,
  idempotency_key_hash bytea,
  holder_id text,
  state text DEFAULT 'reserved'::text NOT NULL,
  estimate_micros bigint NOT NULL,
  budget_micros bigint,
  cost_micros bigint,
  settled_by text,
  week_start timestamp with time zone,
  month_start timestamp with time zone NOT NULL,
  created_at timestamp with time zone NOT NULL,
  uncertain_at timestamp with time zone,
  ended_at timestamp with time zone,
  adjusted_at timestamp with time zone,
  extra_month timestamp with time zone,
  CONSTRAINT reservations_sound CHECK (reservation_is_sound(kind, client_id, service, week_start, state, estimate_micros, cost_micros, settled_by, ended_at))
) PARTITION BY LIST (state);
CREATE INDEX reservations_by_account ON ONLY public.reservations USING btree (svc_user_id);
CREATE INDEX reservations_idempotency_key ON ONLY public.reservations USING btree (svc_user_id, client_id, idempotency_key_hash) WHERE (idempotency_key_hash IS NOT NULL);

CREATE TABLE seat_orders (
  id text NOT NULL,
  svc_user_id text NOT NULL,
  provider_subscription_id text NOT NULL,
  provider_ticket bigint NOT NULL,
  status text NOT NULL,
  plan_id text NOT NULL,
  quantity integer NOT NULL,
  wanted_quantity integer NOT NULL,
  changes integer DEFAULT 0 NOT NULL,
  applied_changes integer DEFAULT 0 NOT NULL,
  is_cancelled_by_deletion boolean DEFAULT false NOT NULL,
  is_followed boolean DEFAULT true NOT NULL,
  anchor timestamp with time zone NOT NULL,
  current_period_start timestamp with time zone NOT NULL,
  current_period_end timestamp with time zone NOT NULL,
  cancel_at_period_end boolean NOT NULL,
  past_due_since timestamp with time zone,
  ended_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT seat_orders_pkey PRIMARY KEY (id),
  CONSTRAINT seat_orders_of_provider UNIQUE (provider_subscription_id),
  CONSTRAINT seat_orders_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES plans(id),
  CONSTRAINT seat_orders_changes CHECK (((applied_changes >= 0) AND (applied_changes <= changes))),
  CONSTRAINT seat_orders_ended CHECK (((ended_at IS NOT NULL) = (status = ANY (ARRAY['canceled'::text, 'unpaid'::text, 'incomplete_expired'::text])))),
  CONSTRAINT seat_orders_quantity_check CHECK ((quantity >= 0)),
  CONSTRAINT seat_orders_status_check CHECK ((status = ANY (ARRAY['incomplete'::text, 'incomplete_expired'::text, 'trialing'::text, 'active'::text, 'past_due'::text, 'canceled'::text, 'unpaid'::text, 'paused'::text]))),
  CONSTRAINT seat_orders_wanted_quantity_check CHECK ((wanted_quantity >= 0))
);
CREATE INDEX seat_orders_by_organization ON seat_orders USING btree (svc_user_id);
CREATE INDEX seat_orders_live_by_end ON seat_orders USING btree (current_period_end) WHERE (ended_at IS NULL);
CREATE UNIQUE INDEX seat_orders_one_live ON seat_orders USING btree (svc_user_id, plan_id) WHERE (ended_at IS NULL);
CREATE INDEX seat_orders_unfollowed ON seat_orders USING btree (updated_at) WHERE (NOT is_followed);
CREATE INDEX seat_orders_waiting ON seat_orders USING btree (updated_at) WHERE (applied_changes < changes);

CREATE TABLE seat_usage_days (
  organization_id text NOT NULL,
  day date NOT NULL,
  svc_user_id text NOT NULL,
  cost_micros bigint NOT NULL,
  CONSTRAINT seat_usage_days_pkey PRIMARY KEY (organization_id, day, svc_user_id)
) WITH (fillfactor=70);

CREATE TABLE seats (
  subscription_id text NOT NULL,
  order_id text NOT NULL,
  organization_id text NOT NULL,
  svc_user_id text NOT NULL,
  membership_id text NOT NULL,
  assigned_at timestamp with time zone NOT NULL,
  order_ticket bigint NOT NULL,
  ended_at timestamp with time zone,
  CONSTRAINT seats_pkey PRIMARY KEY (subscription_id),
  CONSTRAINT seats_order_id_fkey FOREIGN KEY (order_id) REFERENCES seat_orders(id),
  CONSTRAINT seats_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscriptions(id)
);
CREATE INDEX seats_by_order ON seats USING btree (order_id, assigned_at) WHERE (ended_at IS NULL);
CREATE INDEX seats_by_organization ON seats USING btree (organization_id);
CREATE UNIQUE INDEX seats_one_of_member ON seats USING btree (organization_id, svc_user_id) WHERE (ended_at IS NULL);

CREATE TABLE secret_checks (
  setting text NOT NULL,
  sealed bytea NOT NULL,
  CONSTRAINT secret_checks_pkey PRIMARY KEY (setting)
);

CREATE TABLE stripe_catalog (
  stripe_id text NOT NULL,
  plan_id text,
  CONSTRAINT stripe_catalog_pkey PRIMARY KEY (stripe_id),
  CONSTRAINT stripe_catalog_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES plans(id)
);

CREATE TABLE stripe_customers (
  svc_user_id text NOT NULL,
  customer_id text NOT NULL,
  CONSTRAINT stripe_customers_pkey PRIMARY KEY (svc_user_id),
  CONSTRAINT stripe_customers_once UNIQUE (customer_id)
);

CREATE TABLE subscription_disputes (
  provider_dispute_id text NOT NULL,
  provider_subscription_id text NOT NULL,
  lost_at timestamp with time zone,
  provider_ticket bigint NOT NULL,
  CONSTRAINT subscription_disputes_pkey PRIMARY KEY (provider_dispute_id)
);
CREATE INDEX subscription_disputes_lost ON subscription_disputes USING btree (provider_subscription_id, lost_at) WHERE (lost_at IS NOT NULL);

CREATE TABLE subscriptions (
  id text NOT NULL,
  svc_user_id text NOT NULL,
  provider_subscription_id text,
  paid_by text,
  provider_ticket bigint NOT NULL,
  status text NOT NULL,
  plan_id text NOT NULL,
  anchor timestamp with time zone NOT NULL,
  current_period_start timestamp with time zone NOT NULL,
  current_period_end timestamp with time zone NOT NULL,
  cancel_at_period_end boolean NOT NULL,
  past_due_since timestamp with time zone,
  ended_at timestamp with time zone,
  revision integer NOT NULL,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT subscriptions_pkey PRIMARY KEY (id),
  CONSTRAINT subscriptions_of_provider UNIQUE (provider_subscription_id),
  CONSTRAINT subscriptions_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES plans(id),
  CONSTRAINT subscriptions_svc_user_id_fkey FOREIGN KEY (svc_user_id) REFERENCES customers(svc_user_id),
  CONSTRAINT subscriptions_ended CHECK (((ended_at IS NOT NULL) = (status = ANY (ARRAY['canceled'::text, 'unpaid'::text, 'incomplete_expired'::text])))),
  CONSTRAINT subscriptions_past_due CHECK (((past_due_since IS NOT NULL) = (status = 'past_due'::text))),
  CONSTRAINT subscriptions_payer CHECK (((provider_subscription_id IS NULL) = (paid_by IS NOT NULL))),
  CONSTRAINT subscriptions_period CHECK ((current_period_end > current_period_start)),
  CONSTRAINT subscriptions_revision_check CHECK ((revision >= 1)),
  CONSTRAINT subscriptions_status_check CHECK ((status = ANY (ARRAY['incomplete'::text, 'incomplete_expired'::text, 'trialing'::text, 'active'::text, 'past_due'::text, 'canceled'::text, 'unpaid'::text, 'paused'::text])))
);
CREATE INDEX subscriptions_by_account ON subscriptions USING btree (svc_user_id);
CREATE INDEX subscriptions_live_by_end ON subscriptions USING btree (current_period_end) WHERE (status <> ALL (ARRAY['canceled'::text, 'unpaid'::text, 'incomplete_expired'::text]));
CREATE UNIQUE INDEX subscriptions_one_live ON subscriptions USING btree (svc_user_id) WHERE (status <> ALL (ARRAY['canceled'::text, 'unpaid'::text, 'incomplete_expired'::text]));

CREATE TABLE unadmitted_usage (
  request_id text NOT NULL,
  event_id uuid NOT NULL,
  fact jsonb NOT NULL,
  svc_user_id text GENERATED ALWAYS AS ((fact ->> 'svc_user_id'::text)) STORED,
  received_at timestamp with time zone NOT NULL,
  resolved_at timestamp with time zone,
  resolution text,
  CONSTRAINT unadmitted_usage_pkey PRIMARY KEY (request_id, event_id),
  CONSTRAINT unadmitted_usage_check CHECK (((resolved_at IS NULL) = (resolution IS NULL))),
  CONSTRAINT unadmitted_usage_resolution_check CHECK ((resolution = ANY (ARRAY['charged'::text, 'discarded'::text])))
);
CREATE INDEX unadmitted_usage_by_account ON unadmitted_usage USING btree (svc_user_id);
CREATE INDEX unadmitted_usage_waiting ON unadmitted_usage USING btree (request_id) WHERE (resolved_at IS NULL);

CREATE TABLE uncertain_key_requests (
  request_id text NOT NULL,
  svc_user_id text NOT NULL,
  key_id text NOT NULL,
  lease_id uuid,
  held_micros bigint NOT NULL,
  month_start timestamp with time zone NOT NULL,
  uncertain_at timestamp with time zone NOT NULL,
  fact jsonb NOT NULL,
  CONSTRAINT uncertain_key_requests_pkey PRIMARY KEY (request_id),
  CONSTRAINT uncertain_key_requests_held_micros_check CHECK ((held_micros >= 0))
);
CREATE INDEX uncertain_key_requests_by_account ON uncertain_key_requests USING btree (svc_user_id);
CREATE INDEX uncertain_key_requests_by_age ON uncertain_key_requests USING btree (uncertain_at);

CREATE TABLE usage_days (
  svc_user_id text NOT NULL,
  day date NOT NULL,
  client_id text NOT NULL,
  service text NOT NULL,
  requests integer NOT NULL,
  cost_micros bigint NOT NULL,
  week_first_micros bigint DEFAULT 0 NOT NULL,
  month_first_micros bigint DEFAULT 0 NOT NULL,
  CONSTRAINT usage_days_pkey PRIMARY KEY (svc_user_id, day, client_id, service),
  CONSTRAINT usage_days_cost_micros_check CHECK ((cost_micros >= 0)),
  CONSTRAINT usage_days_requests_check CHECK ((requests >= 0))
) WITH (fillfactor=70);
CREATE INDEX usage_days_by_app ON usage_days USING btree (client_id, day, svc_user_id, service);

CREATE TABLE wallet_refunds (
  id text NOT NULL,
  svc_user_id text NOT NULL,
  session_id text NOT NULL,
  amount_micros bigint NOT NULL,
  state text DEFAULT 'pending'::text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  ended_at timestamp with time zone,
  CONSTRAINT wallet_refunds_pkey PRIMARY KEY (id),
  CONSTRAINT wallet_refunds_session_id_fkey FOREIGN KEY (session_id) REFERENCES checkout_sessions(id),
  CONSTRAINT wallet_refunds_amount_micros_check CHECK ((amount_micros > 0)),
  CONSTRAINT wallet_refunds_ended CHECK (((ended_at IS NOT NULL) = (state <> 'pending'::text))),
  CONSTRAINT wallet_refunds_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'refunded'::text, 'refused'::text])))
);
CREATE INDEX wallet_refunds_by_account ON wallet_refunds USING btree (svc_user_id);
CREATE INDEX wallet_refunds_by_session ON wallet_refunds USING btree (session_id);
CREATE INDEX wallet_refunds_pending ON wallet_refunds USING btree (created_at) WHERE (state = 'pending'::text);

CREATE TABLE wallet_usage_days (
  svc_user_id text NOT NULL,
  day date NOT NULL,
  paid_micros bigint NOT NULL,
  extra_micros bigint DEFAULT 0 NOT NULL,
  last_posted_at timestamp with time zone NOT NULL,
  CONSTRAINT wallet_usage_days_pkey PRIMARY KEY (svc_user_id, day)
) WITH (fillfactor=70);

CREATE TABLE wallets (
  svc_user_id text NOT NULL,
  currency text NOT NULL,
  balance_micros bigint DEFAULT 0 NOT NULL,
  held_micros bigint DEFAULT 0 NOT NULL,
  revision integer DEFAULT 0 NOT NULL,
  created_at timestamp with time zone NOT NULL,
  recalling_until timestamp with time zone,
  CONSTRAINT wallets_pkey PRIMARY KEY (svc_user_id),
  CONSTRAINT wallets_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  CONSTRAINT wallets_held_micros_check CHECK ((held_micros >= 0))
) WITH (fillfactor=50);
CREATE TRIGGER wallets_alerts AFTER UPDATE OF balance_micros ON wallets FOR EACH ROW EXECUTE FUNCTION wallet_alerts_follow();

CREATE VIEW key_requests AS
 SELECT r.id,
    id_of_uuid('req'::text, r.id) AS request_id,
    k.svc_user_id,
    k.key_id,
    r.key_number,
        CASE r.ending
            WHEN 'r'::"char" THEN 'released'::text
            ELSE 'settled'::text
        END AS state,
        CASE r.ending
            WHEN 'u'::"char" THEN 'usage'::text
            WHEN 'e'::"char" THEN 'estimate'::text
            ELSE NULL::text
        END AS settled_by,
    r.cost_micros,
    COALESCE(r.written_off_micros, 0::bigint) AS written_off_micros,
    r.posting_id,
    make_timestamptz(r.month / 12, r.month::integer % 12 + 1, 1, 0, 0, 0::double precision, 'UTC'::text) AS month_start,
    time_of_uuid(r.id) AS created_at,
    r.ended_at
   FROM ended_key_requests r
     JOIN request_keys k USING (key_number);

CREATE VIEW ledger_entries AS
 SELECT p.id AS posting_id,
    e.book,
    e.amount_micros
   FROM ledger_postings p
     CROSS JOIN LATERAL ( VALUES ('wallet_available'::text,p.wallet_available_micros), ('payments_received'::text,p.payments_received_micros), ('income'::text,p.income_micros), ('write_offs'::text,p.write_offs_micros)) e(book, amount_micros)
  WHERE e.amount_micros IS NOT NULL;
