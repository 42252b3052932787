import type { Knex } from 'knex';

/** Ids sort by time byte by byte; "C" keeps that true whatever the database's language is. */
const ID = 'text COLLATE "C"';

/** Everything that auth owns but its outbox. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(ACCOUNTS);
  await knex.raw(APPS);
  await knex.raw(CONNECTIONS);
  await knex.raw(OAUTH);
};

const ACCOUNTS = `
CREATE TABLE accounts (
  id ${ID} PRIMARY KEY,
  email text NOT NULL CONSTRAINT accounts_email_key UNIQUE,
  password_hash text NOT NULL,
  account_type text NOT NULL CHECK (account_type IN ('personal', 'business')),
  business_name text,
  display_name text,
  locale text NOT NULL CHECK (locale IN ('it', 'en')),
  created_at timestamptz NOT NULL,
  CONSTRAINT accounts_email_is_normal CHECK (email = lower(email COLLATE "C")),
  CONSTRAINT accounts_business_has_name CHECK (account_type <> 'business' OR business_name IS NOT NULL)
);

CREATE TABLE console_sessions (
  id ${ID} PRIMARY KEY,
  user_id ${ID} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX console_sessions_by_user ON console_sessions (user_id);
CREATE INDEX console_sessions_by_expiry ON console_sessions (expires_at);

CREATE TABLE sign_in_attempts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  address_digest bytea NOT NULL,
  source_digest bytea NOT NULL,
  attempted_at timestamptz NOT NULL
);
CREATE INDEX sign_in_attempts_by_address ON sign_in_attempts (address_digest, attempted_at);
CREATE INDEX sign_in_attempts_by_source ON sign_in_attempts (source_digest, attempted_at);
CREATE INDEX sign_in_attempts_by_time ON sign_in_attempts (attempted_at);

CREATE TABLE signing_keys (
  kid text PRIMARY KEY,
  state text NOT NULL CHECK (state IN ('next', 'active', 'retired')),
  public_jwk jsonb NOT NULL,
  sealed_private_key bytea NOT NULL,
  created_at timestamptz NOT NULL,
  activated_at timestamptz,
  retired_at timestamptz,
  CONSTRAINT signing_keys_states CHECK (
    (state = 'next' AND activated_at IS NULL AND retired_at IS NULL)
    OR (state = 'active' AND activated_at IS NOT NULL AND retired_at IS NULL)
    OR (state = 'retired' AND activated_at IS NOT NULL AND retired_at IS NOT NULL)
  )
);
CREATE UNIQUE INDEX signing_keys_one_active ON signing_keys (state) WHERE state = 'active';
CREATE UNIQUE INDEX signing_keys_one_next ON signing_keys (state) WHERE state = 'next';
`;

const APPS = `
CREATE TABLE apps (
  client_id ${ID} PRIMARY KEY,
  owner_user_id ${ID} NOT NULL REFERENCES accounts (id),
  name text NOT NULL,
  description text,
  client_type text NOT NULL CHECK (client_type IN ('public', 'confidential')),
  redirect_uris text[] NOT NULL CHECK (cardinality(redirect_uris) BETWEEN 1 AND 10),
  homepage_url text,
  privacy_policy_url text,
  active boolean NOT NULL,
  refresh_grace_seconds integer NOT NULL CHECK (refresh_grace_seconds BETWEEN 0 AND 120),
  version integer NOT NULL CHECK (version > 0),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  secret_rotated_at timestamptz,
  deleted_at timestamptz,
  CONSTRAINT apps_deleted_are_inactive CHECK (deleted_at IS NULL OR NOT active)
);
CREATE INDEX apps_by_owner ON apps (owner_user_id, client_id) WHERE deleted_at IS NULL;

CREATE TABLE app_secrets (
  digest bytea PRIMARY KEY,
  client_id ${ID} NOT NULL REFERENCES apps (client_id) ON DELETE CASCADE,
  created_at timestamptz NOT NULL,
  expires_at timestamptz
);
CREATE INDEX app_secrets_by_app ON app_secrets (client_id);
CREATE UNIQUE INDEX app_secrets_one_current ON app_secrets (client_id) WHERE expires_at IS NULL;

CREATE TABLE app_icons (
  client_id ${ID} PRIMARY KEY REFERENCES apps (client_id) ON DELETE CASCADE,
  content_type text NOT NULL CHECK (content_type IN ('image/png', 'image/jpeg', 'image/webp')),
  bytes bytea NOT NULL CHECK (octet_length(bytes) BETWEEN 1 AND 262144),
  updated_at timestamptz NOT NULL
);

CREATE TABLE app_suspensions (
  client_id ${ID} PRIMARY KEY REFERENCES apps (client_id) ON DELETE CASCADE,
  requested_at timestamptz NOT NULL
);
`;

const CONNECTIONS = `
CREATE TABLE connections (
  user_id ${ID} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  client_id ${ID} NOT NULL,
  scope text NOT NULL,
  connected_at timestamptz NOT NULL,
  last_used_at timestamptz,
  last_grant_id ${ID} NOT NULL,
  version integer NOT NULL CHECK (version > 0),
  ended_at timestamptz,
  PRIMARY KEY (user_id, client_id)
);
CREATE INDEX connections_live_by_app ON connections (client_id, user_id) WHERE ended_at IS NULL;
CREATE INDEX connections_by_app ON connections (client_id, user_id);

CREATE TABLE grants (
  id ${ID} PRIMARY KEY,
  user_id ${ID} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  client_id ${ID} NOT NULL,
  scope text NOT NULL,
  created_at timestamptz NOT NULL,
  last_used_at timestamptz,
  expires_at timestamptz NOT NULL
);
CREATE INDEX grants_by_connection ON grants (user_id, client_id);
CREATE INDEX grants_by_app ON grants (client_id, id);
CREATE INDEX grants_by_expiry ON grants (expires_at);

CREATE TABLE app_cutoffs (
  client_id ${ID} PRIMARY KEY,
  revoked_through ${ID} NOT NULL
);
`;

const OAUTH = `
CREATE TABLE authorization_codes (
  digest bytea PRIMARY KEY,
  grant_id ${ID} NOT NULL REFERENCES grants (id) ON DELETE CASCADE,
  redirect_uri text NOT NULL,
  code_challenge text NOT NULL,
  issued_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  consumed_at timestamptz
);
CREATE INDEX authorization_codes_by_grant ON authorization_codes (grant_id);
CREATE INDEX authorization_codes_unused_by_expiry ON authorization_codes (expires_at) WHERE consumed_at IS NULL;

CREATE TABLE refresh_tokens (
  digest bytea PRIMARY KEY,
  grant_id ${ID} NOT NULL REFERENCES grants (id) ON DELETE CASCADE,
  generation integer NOT NULL CHECK (generation >= 0),
  issued_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  consumed_at timestamptz
);
CREATE INDEX refresh_tokens_by_grant ON refresh_tokens (grant_id, generation);
CREATE INDEX refresh_tokens_by_expiry ON refresh_tokens (expires_at);
`;
