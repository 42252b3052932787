-- Generated from the migrated database: do not edit. Functions are in migrations/functions, one file each.

CREATE TABLE accounts (
  id text COLLATE "C" NOT NULL,
  email text NOT NULL,
  email_verified_at timestamp with time zone,
  password_hash text,
  has_second_factor boolean DEFAULT false NOT NULL,
  account_type text NOT NULL,
  business_name text,
  requires_second_factor boolean DEFAULT false NOT NULL,
  display_name text,
  locale text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  first_signed_in_at timestamp with time zone,
  sessions_revoked_through text COLLATE "C",
  distrusted_since timestamp with time zone,
  erase_at timestamp with time zone,
  deletion_version integer DEFAULT 0 NOT NULL,
  CONSTRAINT accounts_pkey PRIMARY KEY (id),
  CONSTRAINT accounts_email_key UNIQUE (email),
  CONSTRAINT accounts_account_type_check CHECK ((account_type = ANY (ARRAY['personal'::text, 'business'::text]))),
  CONSTRAINT accounts_business_has_name CHECK (((account_type <> 'business'::text) OR (business_name IS NOT NULL))),
  CONSTRAINT accounts_email_is_normal CHECK ((email = lower((email COLLATE "C")))),
  CONSTRAINT accounts_locale_check CHECK ((locale = ANY (ARRAY['it'::text, 'en'::text])))
);
CREATE INDEX accounts_to_erase ON accounts USING btree (erase_at) WHERE (erase_at IS NOT NULL);

CREATE TABLE app_cutoffs (
  client_id text COLLATE "C" NOT NULL,
  revoked_through text COLLATE "C" NOT NULL,
  CONSTRAINT app_cutoffs_pkey PRIMARY KEY (client_id)
);

CREATE TABLE app_icons (
  client_id text COLLATE "C" NOT NULL,
  content_type text NOT NULL,
  bytes bytea NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT app_icons_pkey PRIMARY KEY (client_id),
  CONSTRAINT app_icons_client_id_fkey FOREIGN KEY (client_id) REFERENCES apps(client_id) ON DELETE CASCADE,
  CONSTRAINT app_icons_bytes_check CHECK (((octet_length(bytes) >= 1) AND (octet_length(bytes) <= 262144))),
  CONSTRAINT app_icons_content_type_check CHECK ((content_type = ANY (ARRAY['image/png'::text, 'image/jpeg'::text, 'image/webp'::text])))
);

CREATE TABLE app_reports (
  client_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  app_name text NOT NULL,
  owner_user_id text COLLATE "C",
  reported_on date NOT NULL,
  reported_at timestamp with time zone NOT NULL,
  reason text NOT NULL,
  comment text,
  closed_at timestamp with time zone,
  CONSTRAINT app_reports_pkey PRIMARY KEY (client_id, user_id, reported_on),
  CONSTRAINT app_reports_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE,
  CONSTRAINT app_reports_reason_check CHECK ((reason = ANY (ARRAY['impersonation'::text, 'spam'::text, 'misuse'::text, 'other'::text])))
);
CREATE INDEX app_reports_by_time ON app_reports USING btree (reported_at);
CREATE INDEX app_reports_by_user ON app_reports USING btree (user_id);
CREATE INDEX app_reports_open ON app_reports USING btree (client_id) WHERE (closed_at IS NULL);

CREATE TABLE app_secrets (
  digest bytea NOT NULL,
  client_id text COLLATE "C" NOT NULL,
  created_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone,
  CONSTRAINT app_secrets_pkey PRIMARY KEY (digest),
  CONSTRAINT app_secrets_client_id_fkey FOREIGN KEY (client_id) REFERENCES apps(client_id) ON DELETE CASCADE
);
CREATE INDEX app_secrets_by_app ON app_secrets USING btree (client_id);
CREATE UNIQUE INDEX app_secrets_one_current ON app_secrets USING btree (client_id) WHERE (expires_at IS NULL);

CREATE TABLE app_suspensions (
  client_id text COLLATE "C" NOT NULL,
  requested_at timestamp with time zone NOT NULL,
  CONSTRAINT app_suspensions_pkey PRIMARY KEY (client_id),
  CONSTRAINT app_suspensions_client_id_fkey FOREIGN KEY (client_id) REFERENCES apps(client_id) ON DELETE CASCADE
);

CREATE TABLE apps (
  client_id text COLLATE "C" NOT NULL,
  owner_user_id text COLLATE "C",
  name text NOT NULL,
  description text,
  client_type text NOT NULL,
  redirect_uris text[] NOT NULL,
  homepage_url text,
  privacy_policy_url text,
  active boolean NOT NULL,
  refresh_grace_seconds integer NOT NULL,
  require_pushed_authorization_requests boolean DEFAULT false NOT NULL,
  dpop_bound_access_tokens boolean DEFAULT false NOT NULL,
  device_flow boolean DEFAULT false NOT NULL,
  version integer NOT NULL,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  secret_rotated_at timestamp with time zone,
  suspended_at timestamp with time zone,
  deleted_at timestamp with time zone,
  CONSTRAINT apps_pkey PRIMARY KEY (client_id),
  CONSTRAINT apps_owner_user_id_fkey FOREIGN KEY (owner_user_id) REFERENCES accounts(id),
  CONSTRAINT apps_client_type_check CHECK ((client_type = ANY (ARRAY['public'::text, 'confidential'::text]))),
  CONSTRAINT apps_deleted_are_inactive CHECK (((deleted_at IS NULL) OR (NOT active))),
  CONSTRAINT apps_redirect_uris_check CHECK (((cardinality(redirect_uris) >= 1) AND (cardinality(redirect_uris) <= 10))),
  CONSTRAINT apps_refresh_grace_seconds_check CHECK (((refresh_grace_seconds >= 0) AND (refresh_grace_seconds <= 120))),
  CONSTRAINT apps_suspended_are_inactive CHECK (((suspended_at IS NULL) OR (NOT active))),
  CONSTRAINT apps_version_check CHECK ((version > 0)),
  CONSTRAINT apps_without_owner CHECK (((owner_user_id IS NULL) = (client_id ~~ 'https://%'::text)))
);
CREATE INDEX apps_by_owner ON apps USING btree (owner_user_id, client_id) WHERE (deleted_at IS NULL);

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

CREATE TABLE authorization_codes (
  digest bytea NOT NULL,
  grant_id text COLLATE "C" NOT NULL,
  redirect_uri text NOT NULL,
  code_challenge text NOT NULL,
  dpop_jkt text,
  issued_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  consumed_at timestamp with time zone,
  CONSTRAINT authorization_codes_pkey PRIMARY KEY (digest),
  CONSTRAINT authorization_codes_grant_id_fkey FOREIGN KEY (grant_id) REFERENCES grants(id) ON DELETE CASCADE
);
CREATE INDEX authorization_codes_by_grant ON authorization_codes USING btree (grant_id);
CREATE INDEX authorization_codes_unused_by_expiry ON authorization_codes USING btree (expires_at) WHERE (consumed_at IS NULL);

CREATE TABLE blocked_client_hosts (
  host text NOT NULL,
  blocked_at timestamp with time zone NOT NULL,
  CONSTRAINT blocked_client_hosts_pkey PRIMARY KEY (host)
);

CREATE TABLE client_documents (
  client_id text COLLATE "C" NOT NULL,
  host text NOT NULL,
  fetched_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT client_documents_pkey PRIMARY KEY (client_id),
  CONSTRAINT client_documents_client_id_fkey FOREIGN KEY (client_id) REFERENCES apps(client_id) ON DELETE CASCADE
);
CREATE INDEX client_documents_by_expiry ON client_documents USING btree (expires_at);
CREATE INDEX client_documents_by_host ON client_documents USING btree (host);

CREATE TABLE connection_audit (
  id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  client_id text COLLATE "C" NOT NULL,
  action text NOT NULL,
  scope text,
  network text,
  client_kind text NOT NULL,
  happened_at timestamp with time zone NOT NULL,
  CONSTRAINT connection_audit_pkey PRIMARY KEY (id),
  CONSTRAINT connection_audit_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE,
  CONSTRAINT connection_audit_action_check CHECK ((action = ANY (ARRAY['connected'::text, 'consented_again'::text, 'disconnected'::text, 'app_suspended'::text, 'token_reused'::text, 'revoked_by_app'::text, 'grant_ended'::text, 'limit_changed'::text, 'paused'::text, 'resumed'::text]))),
  CONSTRAINT connection_audit_client_kind_check CHECK ((client_kind = ANY (ARRAY['browser'::text, 'console'::text, 'app'::text, 'service'::text])))
);
CREATE INDEX connection_audit_by_connection ON connection_audit USING btree (user_id, client_id, id);
CREATE INDEX connection_audit_by_time ON connection_audit USING btree (happened_at);

CREATE TABLE connections (
  user_id text COLLATE "C" NOT NULL,
  client_id text COLLATE "C" NOT NULL,
  scope text NOT NULL,
  connected_at timestamp with time zone NOT NULL,
  last_used_at timestamp with time zone,
  last_grant_id text COLLATE "C" NOT NULL,
  is_paused boolean DEFAULT false NOT NULL,
  budget_limit_micros bigint,
  budget_period text,
  budget_expires_at timestamp with time zone,
  terms_version integer DEFAULT 0 NOT NULL,
  version integer NOT NULL,
  ended_at timestamp with time zone,
  CONSTRAINT connections_pkey PRIMARY KEY (user_id, client_id),
  CONSTRAINT connections_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE,
  CONSTRAINT connections_budget CHECK (((budget_limit_micros IS NULL) = (budget_period IS NULL))),
  CONSTRAINT connections_version_check CHECK ((version > 0))
);
CREATE INDEX connections_by_app ON connections USING btree (client_id, user_id);
CREATE INDEX connections_live_by_app ON connections USING btree (client_id, user_id) WHERE (ended_at IS NULL);

CREATE TABLE console_sessions (
  id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  created_at timestamp with time zone NOT NULL,
  authenticated_at timestamp with time zone NOT NULL,
  last_used_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  user_agent text,
  network text,
  organization_id text COLLATE "C",
  sign_in_id text COLLATE "C",
  CONSTRAINT console_sessions_pkey PRIMARY KEY (id),
  CONSTRAINT console_sessions_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES accounts(id) ON DELETE CASCADE,
  CONSTRAINT console_sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE
);
CREATE INDEX console_sessions_by_expiry ON console_sessions USING btree (expires_at);
CREATE INDEX console_sessions_by_organization ON console_sessions USING btree (organization_id, user_id) WHERE (organization_id IS NOT NULL);
CREATE INDEX console_sessions_by_sign_in ON console_sessions USING btree (sign_in_id) WHERE (sign_in_id IS NOT NULL);
CREATE INDEX console_sessions_by_user ON console_sessions USING btree (user_id);

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

CREATE TABLE denied_forms (
  digest bytea NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT denied_forms_pkey PRIMARY KEY (digest)
);
CREATE INDEX denied_forms_by_expiry ON denied_forms USING btree (expires_at);

CREATE TABLE device_codes (
  digest bytea NOT NULL,
  client_id text COLLATE "C" NOT NULL,
  user_code text,
  scope text NOT NULL,
  authorization_details text,
  device_name text,
  network text,
  expires_at timestamp with time zone NOT NULL,
  denied_at timestamp with time zone,
  grant_id text COLLATE "C",
  redeemed_at timestamp with time zone,
  CONSTRAINT device_codes_pkey PRIMARY KEY (digest),
  CONSTRAINT device_codes_user_code_key UNIQUE (user_code),
  CONSTRAINT device_codes_client_id_fkey FOREIGN KEY (client_id) REFERENCES apps(client_id) ON DELETE CASCADE,
  CONSTRAINT device_codes_grant_id_fkey FOREIGN KEY (grant_id) REFERENCES grants(id) ON DELETE CASCADE,
  CONSTRAINT device_codes_decided CHECK (((user_code IS NULL) = ((denied_at IS NOT NULL) OR (grant_id IS NOT NULL))))
);
CREATE INDEX device_codes_by_expiry ON device_codes USING btree (expires_at);
CREATE INDEX device_codes_by_grant ON device_codes USING btree (grant_id) WHERE (grant_id IS NOT NULL);

CREATE TABLE dpop_proofs (
  digest bytea NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT dpop_proofs_pkey PRIMARY KEY (digest)
);
CREATE INDEX dpop_proofs_by_expiry ON dpop_proofs USING btree (expires_at);

CREATE TABLE epochs (
  epoch uuid NOT NULL,
  restored_to timestamp with time zone,
  began_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT epochs_pkey PRIMARY KEY (epoch),
  CONSTRAINT epochs_restored_to_unique UNIQUE (restored_to)
);

CREATE TABLE erased_accounts (
  user_id text COLLATE "C" NOT NULL,
  erased_at timestamp with time zone NOT NULL,
  CONSTRAINT erased_accounts_pkey PRIMARY KEY (user_id)
);
CREATE INDEX erased_accounts_by_time ON erased_accounts USING btree (erased_at);

CREATE TABLE grants (
  id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  client_id text COLLATE "C" NOT NULL,
  scope text NOT NULL,
  device_name text,
  created_at timestamp with time zone NOT NULL,
  last_used_at timestamp with time zone,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT grants_pkey PRIMARY KEY (id),
  CONSTRAINT grants_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE
) WITH (fillfactor=80);
CREATE INDEX grants_by_app ON grants USING btree (client_id, id);
CREATE INDEX grants_by_connection ON grants USING btree (user_id, client_id);
CREATE INDEX grants_by_expiry ON grants USING btree (expires_at);

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

CREATE TABLE invitations (
  id text COLLATE "C" NOT NULL,
  organization_id text COLLATE "C" NOT NULL,
  digest bytea NOT NULL,
  email text NOT NULL,
  role text NOT NULL,
  invited_by text COLLATE "C" NOT NULL,
  created_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT invitations_pkey PRIMARY KEY (id),
  CONSTRAINT invitations_digest_key UNIQUE (digest),
  CONSTRAINT invitations_once UNIQUE (organization_id, email),
  CONSTRAINT invitations_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES accounts(id) ON DELETE CASCADE,
  CONSTRAINT invitations_email_is_normal CHECK ((email = lower((email COLLATE "C")))),
  CONSTRAINT invitations_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'billing'::text, 'developer'::text, 'admin'::text, 'owner'::text])))
);
CREATE INDEX invitations_by_email ON invitations USING btree (email);
CREATE INDEX invitations_by_expiry ON invitations USING btree (expires_at);

CREATE TABLE mailed_tokens (
  digest bytea NOT NULL,
  purpose text NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  email text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  issuer text,
  subject text,
  CONSTRAINT mailed_tokens_pkey PRIMARY KEY (digest),
  CONSTRAINT mailed_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE,
  CONSTRAINT mailed_tokens_identity CHECK (((purpose = 'link_identity'::text) = ((issuer IS NOT NULL) AND (subject IS NOT NULL))))
);
CREATE INDEX mailed_tokens_by_expiry ON mailed_tokens USING btree (expires_at);
CREATE INDEX mailed_tokens_by_former_email ON mailed_tokens USING btree (email) WHERE (purpose = 'undo_email'::text);
CREATE INDEX mailed_tokens_by_user ON mailed_tokens USING btree (user_id, purpose);

CREATE TABLE mails (
  id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  notice_id text,
  recipient text NOT NULL,
  device_id text,
  locale text NOT NULL,
  sealed_data bytea,
  created_at timestamp with time zone NOT NULL,
  due_at timestamp with time zone,
  attempts integer DEFAULT 0 NOT NULL,
  sent_at timestamp with time zone,
  failed_at timestamp with time zone,
  error_code text,
  CONSTRAINT mails_pkey PRIMARY KEY (id),
  CONSTRAINT mails_notice_id_unique UNIQUE (notice_id),
  CONSTRAINT mails_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE,
  CONSTRAINT mails_attempts_check CHECK ((attempts >= 0)),
  CONSTRAINT mails_locale_check CHECK ((locale = ANY (ARRAY['it'::text, 'en'::text]))),
  CONSTRAINT mails_states CHECK ((((due_at IS NOT NULL) AND (sealed_data IS NOT NULL) AND (sent_at IS NULL) AND (failed_at IS NULL)) OR ((due_at IS NULL) AND (sealed_data IS NULL) AND ((sent_at IS NULL) <> (failed_at IS NULL)))))
);
CREATE INDEX mails_by_age ON mails USING btree (created_at);
CREATE INDEX mails_by_key ON mails USING btree (substr(sealed_data, 1, 8)) WHERE (sealed_data IS NOT NULL);
CREATE INDEX mails_by_recipient ON mails USING btree (recipient, created_at);
CREATE INDEX mails_by_user ON mails USING btree (user_id, kind, created_at);
CREATE INDEX mails_due ON mails USING btree (due_at) WHERE (due_at IS NOT NULL);

CREATE TABLE management_keys (
  id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  created_by text COLLATE "C" NOT NULL,
  session_id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  prefix text NOT NULL,
  digest bytea NOT NULL,
  scopes text[] NOT NULL,
  created_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone,
  last_used_at timestamp with time zone,
  CONSTRAINT management_keys_pkey PRIMARY KEY (id),
  CONSTRAINT management_keys_digest_key UNIQUE (digest),
  CONSTRAINT management_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE,
  CONSTRAINT management_keys_scopes_given CHECK ((cardinality(scopes) > 0))
);
CREATE INDEX management_keys_by_creator ON management_keys USING btree (created_by);
CREATE INDEX management_keys_by_user ON management_keys USING btree (user_id);

CREATE TABLE memberships (
  id text COLLATE "C" NOT NULL,
  organization_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  role text NOT NULL,
  version integer DEFAULT 1 NOT NULL,
  joined_at timestamp with time zone NOT NULL,
  CONSTRAINT memberships_pkey PRIMARY KEY (id),
  CONSTRAINT memberships_once UNIQUE (organization_id, user_id),
  CONSTRAINT memberships_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES accounts(id) ON DELETE CASCADE,
  CONSTRAINT memberships_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE,
  CONSTRAINT memberships_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'billing'::text, 'developer'::text, 'admin'::text, 'owner'::text]))),
  CONSTRAINT memberships_version_check CHECK ((version > 0))
);
CREATE INDEX memberships_by_user ON memberships USING btree (user_id);

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

CREATE TABLE passkeys (
  id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  credential_id text COLLATE "C" NOT NULL,
  public_key bytea NOT NULL,
  counter bigint NOT NULL,
  transports text[] NOT NULL,
  created_at timestamp with time zone NOT NULL,
  last_used_at timestamp with time zone,
  CONSTRAINT passkeys_pkey PRIMARY KEY (id),
  CONSTRAINT passkeys_credential_id_key UNIQUE (credential_id),
  CONSTRAINT passkeys_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE,
  CONSTRAINT passkeys_counter_check CHECK ((counter >= 0))
);
CREATE INDEX passkeys_by_user ON passkeys USING btree (user_id);

CREATE TABLE password_reset_requests (
  id uuid NOT NULL,
  sealed_request bytea NOT NULL,
  requested_at timestamp with time zone NOT NULL,
  CONSTRAINT password_reset_requests_pkey PRIMARY KEY (id)
);
CREATE INDEX password_reset_requests_by_age ON password_reset_requests USING btree (requested_at);

CREATE TABLE publisher_domains (
  user_id text COLLATE "C" NOT NULL,
  domain text COLLATE "C" NOT NULL,
  token text NOT NULL,
  status text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  verified_at timestamp with time zone,
  checked_at timestamp with time zone,
  failing_since timestamp with time zone,
  CONSTRAINT publisher_domains_pkey PRIMARY KEY (user_id, domain),
  CONSTRAINT publisher_domains_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE,
  CONSTRAINT publisher_domains_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'verified'::text, 'lapsed'::text]))),
  CONSTRAINT publisher_domains_verified_at_a_time CHECK (((status = 'pending'::text) OR (verified_at IS NOT NULL)))
);
CREATE INDEX publisher_domains_to_check ON publisher_domains USING btree (checked_at) WHERE (status = 'verified'::text);
CREATE UNIQUE INDEX publisher_domains_verified ON publisher_domains USING btree (domain) WHERE (status = 'verified'::text);

CREATE TABLE pushed_requests (
  digest bytea NOT NULL,
  client_id text COLLATE "C" NOT NULL,
  parameters jsonb NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT pushed_requests_pkey PRIMARY KEY (digest),
  CONSTRAINT pushed_requests_client_id_fkey FOREIGN KEY (client_id) REFERENCES apps(client_id) ON DELETE CASCADE
);
CREATE INDEX pushed_requests_by_expiry ON pushed_requests USING btree (expires_at);

CREATE TABLE recovery_codes (
  user_id text COLLATE "C" NOT NULL,
  digest bytea NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT recovery_codes_pkey PRIMARY KEY (user_id, digest),
  CONSTRAINT recovery_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE
);

CREATE TABLE refresh_tokens (
  grant_id text COLLATE "C" NOT NULL,
  family bytea NOT NULL,
  digests bytea[] NOT NULL,
  predecessor bytea,
  predecessor_used_at timestamp with time zone,
  jkt text,
  issued_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT refresh_tokens_pkey PRIMARY KEY (grant_id),
  CONSTRAINT refresh_tokens_grant_id_fkey FOREIGN KEY (grant_id) REFERENCES grants(id) ON DELETE CASCADE,
  CONSTRAINT refresh_tokens_digests_check CHECK (((cardinality(digests) >= 1) AND (cardinality(digests) <= 5))),
  CONSTRAINT refresh_tokens_predecessor CHECK (((predecessor IS NULL) = (predecessor_used_at IS NULL)))
) WITH (fillfactor=70);

CREATE TABLE secret_checks (
  setting text NOT NULL,
  sealed bytea NOT NULL,
  CONSTRAINT secret_checks_pkey PRIMARY KEY (setting)
);

CREATE TABLE sign_in_attempts (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  address_digest bytea NOT NULL,
  source_digest bytea NOT NULL,
  attempted_at timestamp with time zone NOT NULL,
  CONSTRAINT sign_in_attempts_pkey PRIMARY KEY (id)
);
CREATE INDEX sign_in_attempts_by_address ON sign_in_attempts USING btree (address_digest, attempted_at);
CREATE INDEX sign_in_attempts_by_source ON sign_in_attempts USING btree (source_digest, attempted_at);
CREATE INDEX sign_in_attempts_by_time ON sign_in_attempts USING btree (attempted_at);

CREATE TABLE sign_in_challenges (
  digest bytea NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  sessions_revoked_through text COLLATE "C",
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT sign_in_challenges_pkey PRIMARY KEY (digest),
  CONSTRAINT sign_in_challenges_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE
);
CREATE INDEX sign_in_challenges_by_expiry ON sign_in_challenges USING btree (expires_at);
CREATE INDEX sign_in_challenges_by_user ON sign_in_challenges USING btree (user_id);

CREATE TABLE signing_keys (
  kid text NOT NULL,
  state text NOT NULL,
  public_jwk jsonb NOT NULL,
  sealed_private_key bytea NOT NULL,
  created_at timestamp with time zone NOT NULL,
  activated_at timestamp with time zone,
  retired_at timestamp with time zone,
  CONSTRAINT signing_keys_pkey PRIMARY KEY (kid),
  CONSTRAINT signing_keys_state_check CHECK ((state = ANY (ARRAY['next'::text, 'active'::text, 'retired'::text]))),
  CONSTRAINT signing_keys_states CHECK ((((state = 'next'::text) AND (activated_at IS NULL) AND (retired_at IS NULL)) OR ((state = 'active'::text) AND (activated_at IS NOT NULL) AND (retired_at IS NULL)) OR ((state = 'retired'::text) AND (activated_at IS NOT NULL) AND (retired_at IS NOT NULL))))
);
CREATE UNIQUE INDEX signing_keys_one_active ON signing_keys USING btree (state) WHERE (state = 'active'::text);
CREATE UNIQUE INDEX signing_keys_one_next ON signing_keys USING btree (state) WHERE (state = 'next'::text);

CREATE TABLE sso_identities (
  issuer text NOT NULL,
  subject text NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  linked_at timestamp with time zone NOT NULL,
  CONSTRAINT sso_identities_pkey PRIMARY KEY (issuer, subject),
  CONSTRAINT sso_identities_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE
);
CREATE INDEX sso_identities_by_user ON sso_identities USING btree (user_id);

CREATE TABLE totp_factors (
  id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  sealed_secret bytea NOT NULL,
  created_at timestamp with time zone NOT NULL,
  confirmed_at timestamp with time zone,
  last_step integer,
  last_used_at timestamp with time zone,
  CONSTRAINT totp_factors_pkey PRIMARY KEY (id),
  CONSTRAINT totp_factors_user_id_fkey FOREIGN KEY (user_id) REFERENCES accounts(id) ON DELETE CASCADE,
  CONSTRAINT totp_factors_confirmed_with_step CHECK (((confirmed_at IS NULL) = (last_step IS NULL)))
);
CREATE INDEX totp_factors_by_key ON totp_factors USING btree (substr(sealed_secret, 1, 8));
CREATE INDEX totp_factors_by_user ON totp_factors USING btree (user_id);
CREATE INDEX totp_factors_unconfirmed ON totp_factors USING btree (created_at) WHERE (confirmed_at IS NULL);

CREATE TABLE used_passkey_challenges (
  digest bytea NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT used_passkey_challenges_pkey PRIMARY KEY (digest)
);
CREATE INDEX used_passkey_challenges_by_expiry ON used_passkey_challenges USING btree (expires_at);
