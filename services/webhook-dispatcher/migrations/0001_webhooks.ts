import { auditLogMigration } from '@svc/database';
import { inboxMigration } from '@svc/messaging';
import { secretChecksMigration } from '@svc/secrets';
import type { Knex } from 'knex';

/** Webhooks of apps and accounts, a lane for each, its events with their attempts, and the users who are connected. */
export const up = async (knex: Knex): Promise<void> => {
  await inboxMigration(knex);
  await secretChecksMigration(knex);
  await knex.raw(CONFIGURATIONS);
  await knex.raw(LANES);
  await knex.raw(EVENTS);
  await knex.raw(FACTS);
  await auditLogMigration(knex);
};

const CONFIGURATIONS = `
CREATE TABLE configurations (
  -- The client_id of an app, or the svc_user_id of an account.
  owner_id text PRIMARY KEY,
  -- The account that may read it: the owner, or the owner of the app.
  account_id text NOT NULL,
  url text NOT NULL CHECK (length(url) BETWEEN 1 AND 2048),
  generation integer NOT NULL CHECK (generation >= 1),
  secret_sealed bytea NOT NULL,
  -- A rotated secret signs beside the new one until it expires.
  previous_sealed bytea,
  previous_expires_at timestamptz,
  created_at timestamptz NOT NULL,
  CONSTRAINT configurations_previous
    CHECK ((previous_sealed IS NULL) = (previous_expires_at IS NULL))
);
CREATE INDEX configurations_by_account ON configurations (account_id, owner_id);
CREATE INDEX configurations_by_key ON configurations (substr(secret_sealed, 1, 8));
CREATE INDEX configurations_by_previous_key ON configurations (substr(previous_sealed, 1, 8))
  WHERE previous_sealed IS NOT NULL;
`;

const LANES = `
CREATE TABLE lanes (
  owner_id text PRIMARY KEY,
  generation integer NOT NULL,
  -- Grows with each rotation, so that workers on every replica notice that their cached secret is old.
  secret_version integer NOT NULL DEFAULT 1,
  last_sequence bigint NOT NULL DEFAULT 0,
  done_sequence bigint NOT NULL DEFAULT 0,
  blocked_sequence bigint,
  -- Since then its oldest events are given up, because it has been blocked for long.
  paused_at timestamptz,
  due_at timestamptz,
  leased_until timestamptz,
  lease_token bigint NOT NULL DEFAULT 0,
  -- Its webhook was deleted. The sequence goes on with the next one.
  is_off boolean NOT NULL DEFAULT false,
  pace text NOT NULL DEFAULT 'unknown' CHECK (pace IN ('prompt', 'unknown', 'slow')),
  CONSTRAINT lanes_sequences CHECK (done_sequence BETWEEN 0 AND last_sequence),
  CONSTRAINT lanes_blocked CHECK (blocked_sequence IS NULL OR (blocked_sequence = done_sequence + 1 AND due_at IS NULL)),
  CONSTRAINT lanes_paused CHECK (paused_at IS NULL OR blocked_sequence IS NOT NULL),
  CONSTRAINT lanes_idle CHECK (due_at IS NULL OR done_sequence < last_sequence),
  CONSTRAINT lanes_lease CHECK (leased_until IS NULL OR due_at = leased_until)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX lanes_due ON lanes (pace, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX lanes_blocked_owners ON lanes (owner_id) WHERE blocked_sequence IS NOT NULL;

-- Lanes whose owners are mailed: when a lane blocks, is paused, and delivers again. An event that blocks its lane once more, after
-- a retry, has more attempts than before.
CREATE TABLE lane_alarms (
  owner_id text PRIMARY KEY REFERENCES lanes ON DELETE CASCADE,
  sequence bigint NOT NULL,
  attempts integer NOT NULL,
  change text NOT NULL CHECK (change IN ('blocked', 'paused', 'recovered')),
  is_mailed boolean NOT NULL DEFAULT false,
  -- A replica mails the owner until then, outside of any transaction.
  claimed_until timestamptz
);
CREATE INDEX lane_alarms_to_mail ON lane_alarms (owner_id) WHERE NOT is_mailed;
`;

const EVENTS = `
CREATE TABLE events (
  owner_id text NOT NULL,
  svc_user_id text,
  sequence bigint NOT NULL CHECK (sequence >= 1),
  event_id text NOT NULL CONSTRAINT events_event_id UNIQUE,
  generation integer NOT NULL,
  event text NOT NULL,
  fact_id uuid,
  body bytea NOT NULL,
  created bigint NOT NULL,
  -- An open event of an earlier generation than its lane's counts as cancelled.
  status text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'delivered', 'failed', 'skipped')),
  attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  attempts_in_round integer NOT NULL DEFAULT 0 CHECK (attempts_in_round BETWEEN 0 AND 8),
  delivered_at timestamptz,
  PRIMARY KEY (owner_id, sequence)
) WITH (fillfactor = 85);
-- One event per fact, owner and kind, regardless of other failures.
CREATE UNIQUE INDEX events_fact ON events (fact_id, owner_id, event) WHERE fact_id IS NOT NULL;
-- An export reads only the events about a person.
CREATE INDEX events_by_person ON events (svc_user_id, owner_id, sequence);

-- Without a foreign key: the statement that moves an event also writes its attempt, thousands of times in a second.
CREATE TABLE delivery_attempts (
  owner_id text NOT NULL,
  sequence bigint NOT NULL,
  attempt integer NOT NULL CHECK (attempt >= 1),
  at timestamptz NOT NULL,
  status_code integer,
  error text,
  duration_ms integer NOT NULL,
  PRIMARY KEY (owner_id, sequence, attempt)
);
CREATE INDEX delivery_attempts_by_time ON delivery_attempts (owner_id, at);
`;

const FACTS = `
CREATE TABLE connections (
  svc_user_id text NOT NULL,
  client_id text NOT NULL,
  is_connected boolean NOT NULL,
  scope text NOT NULL,
  connected_at timestamptz NOT NULL,
  told_revision integer NOT NULL DEFAULT 0,
  PRIMARY KEY (svc_user_id, client_id)
);
CREATE INDEX connections_by_app ON connections (client_id, connected_at);

-- Counts of each app's inference requests by UTC day, summed up from the gateway's facts.
CREATE TABLE app_activity (
  client_id text NOT NULL,
  day date NOT NULL,
  requests bigint NOT NULL CHECK (requests >= 0),
  errors bigint NOT NULL CHECK (errors BETWEEN 0 AND requests),
  PRIMARY KEY (client_id, day)
);

-- Apps and accounts that no longer have a lane, until their events are deleted, and those of apps with their connections.
CREATE TABLE ended_lanes (
  owner_id text PRIMARY KEY,
  ended_at timestamptz NOT NULL DEFAULT now()
);
`;
