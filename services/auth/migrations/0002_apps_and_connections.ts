import type { Knex } from 'knex';

/** Ids sort by time byte by byte. "C" keeps that true regardless of the database's language. */
const ID = 'text COLLATE "C"';

/** Apps of businesses, and the connections of users to them. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(APPS);
  await knex.raw(APP_REPORTS);
  await knex.raw(CONNECTIONS);
};

const APPS = `
CREATE TABLE apps (
  client_id ${ID} PRIMARY KEY,
  -- Null for an app that no business registered: its client id is the address of its metadata document.
  owner_user_id ${ID} REFERENCES accounts (id),
  name text NOT NULL,
  description text,
  client_type text NOT NULL CHECK (client_type IN ('public', 'confidential')),
  redirect_uris text[] NOT NULL CHECK (cardinality(redirect_uris) BETWEEN 1 AND 10),
  homepage_url text,
  privacy_policy_url text,
  active boolean NOT NULL,
  refresh_grace_seconds integer NOT NULL CHECK (refresh_grace_seconds BETWEEN 0 AND 120),
  -- RFC 9126: only pushed requests. RFC 9449: only bound tokens.
  require_pushed_authorization_requests boolean NOT NULL DEFAULT false,
  dpop_bound_access_tokens boolean NOT NULL DEFAULT false,
  -- RFC 8628: devices without a browser may ask.
  device_flow boolean NOT NULL DEFAULT false,
  version integer NOT NULL CHECK (version > 0),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  secret_rotated_at timestamptz,
  -- Set by an operator, which keeps the app inactive.
  suspended_at timestamptz,
  deleted_at timestamptz,
  CONSTRAINT apps_without_owner CHECK ((owner_user_id IS NULL) = (client_id LIKE 'https://%')),
  CONSTRAINT apps_suspended_are_inactive CHECK (suspended_at IS NULL OR NOT active),
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

-- Metadata documents of clients that no business registered, as they were last fetched.
CREATE TABLE client_documents (
  client_id ${ID} PRIMARY KEY REFERENCES apps (client_id) ON DELETE CASCADE,
  host text NOT NULL,
  fetched_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX client_documents_by_host ON client_documents (host);
CREATE INDEX client_documents_by_expiry ON client_documents (expires_at);

-- Hosts from which operators accept no document.
CREATE TABLE blocked_client_hosts (
  host text PRIMARY KEY,
  blocked_at timestamptz NOT NULL
);

CREATE TABLE app_cutoffs (
  client_id ${ID} PRIMARY KEY,
  revoked_through ${ID} NOT NULL
);
`;

const APP_REPORTS = `
-- Reports of users about apps. They outlive their app, with the name and the owner that it had.
CREATE TABLE app_reports (
  client_id ${ID} NOT NULL,
  user_id ${ID} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  app_name text NOT NULL,
  owner_user_id ${ID},
  reported_on date NOT NULL,
  reported_at timestamptz NOT NULL,
  reason text NOT NULL CHECK (reason IN ('impersonation', 'spam', 'misuse', 'other')),
  comment text,
  closed_at timestamptz,
  PRIMARY KEY (client_id, user_id, reported_on)
);
CREATE INDEX app_reports_by_user ON app_reports (user_id);
CREATE INDEX app_reports_by_time ON app_reports (reported_at);
CREATE INDEX app_reports_open ON app_reports (client_id) WHERE closed_at IS NULL;
`;

const CONNECTIONS = `
-- A row outlives the end of its connection, so that the versions of its facts keep growing.
CREATE TABLE connections (
  user_id ${ID} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  client_id ${ID} NOT NULL,
  scope text NOT NULL,
  connected_at timestamptz NOT NULL,
  last_used_at timestamptz,
  last_grant_id ${ID} NOT NULL,
  -- The terms of the connection, as billing holds them.
  is_paused boolean NOT NULL DEFAULT false,
  budget_limit_micros bigint,
  budget_period text,
  budget_expires_at timestamptz,
  -- Counts the changes of these terms, so that a change sees whether another came first.
  terms_version integer NOT NULL DEFAULT 0,
  version integer NOT NULL CHECK (version > 0),
  ended_at timestamptz,
  PRIMARY KEY (user_id, client_id),
  CONSTRAINT connections_budget CHECK ((budget_limit_micros IS NULL) = (budget_period IS NULL))
);
CREATE INDEX connections_live_by_app ON connections (client_id, user_id) WHERE ended_at IS NULL;
CREATE INDEX connections_by_app ON connections (client_id, user_id);

-- Events of a user's connections, kept for that user. A row outlives connection and app.
CREATE TABLE connection_audit (
  id ${ID} PRIMARY KEY,
  user_id ${ID} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  client_id ${ID} NOT NULL,
  action text NOT NULL CHECK (
    action IN (
      'connected', 'consented_again', 'disconnected', 'app_suspended', 'token_reused', 'revoked_by_app', 'grant_ended',
      'limit_changed', 'paused', 'resumed'
    )
  ),
  scope text,
  network text,
  client_kind text NOT NULL CHECK (client_kind IN ('browser', 'console', 'app', 'service')),
  happened_at timestamptz NOT NULL
);
CREATE INDEX connection_audit_by_connection ON connection_audit (user_id, client_id, id);
CREATE INDEX connection_audit_by_time ON connection_audit (happened_at);
`;
