import { inboxMigration } from '@svc/messaging';
import type { Knex } from 'knex';

/** Configurations, one lane per configured app, its events with their attempts, and the users who are connected. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE configurations (
      client_id text PRIMARY KEY,
      url text NOT NULL CHECK (length(url) BETWEEN 1 AND 2048),
      generation integer NOT NULL CHECK (generation >= 1),
      secret_key_id text NOT NULL,
      secret_sealed bytea NOT NULL,
      created_at timestamptz NOT NULL
    )`);
  await knex.raw(`
    CREATE TABLE lanes (
      client_id text PRIMARY KEY,
      generation integer NOT NULL,
      last_sequence bigint NOT NULL DEFAULT 0,
      done_sequence bigint NOT NULL DEFAULT 0,
      blocked_sequence bigint,
      due_at timestamptz,
      leased_until timestamptz,
      lease_token bigint NOT NULL DEFAULT 0,
      pace text NOT NULL DEFAULT 'unknown' CHECK (pace IN ('prompt', 'unknown', 'slow')),
      CONSTRAINT lanes_sequences CHECK (done_sequence BETWEEN 0 AND last_sequence),
      CONSTRAINT lanes_blocked CHECK (blocked_sequence IS NULL OR (blocked_sequence = done_sequence + 1 AND due_at IS NULL)),
      CONSTRAINT lanes_idle CHECK (due_at IS NULL OR done_sequence < last_sequence),
      CONSTRAINT lanes_lease CHECK (leased_until IS NULL OR due_at = leased_until)
    ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02)`);
  await knex.raw('CREATE INDEX lanes_due ON lanes (pace, due_at) WHERE due_at IS NOT NULL');
  await knex.raw('CREATE INDEX lanes_blocked_apps ON lanes (client_id) WHERE blocked_sequence IS NOT NULL');
  await knex.raw(`
    CREATE TABLE events (
      client_id text NOT NULL,
      sequence bigint NOT NULL CHECK (sequence >= 1),
      event_id text NOT NULL CONSTRAINT events_event_id UNIQUE,
      generation integer NOT NULL,
      event text NOT NULL,
      fact_id uuid,
      body bytea NOT NULL,
      created bigint NOT NULL,
      status text NOT NULL DEFAULT 'queued'
        CHECK (status IN ('queued', 'delivered', 'failed', 'skipped', 'cancelled')),
      attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
      attempts_in_round integer NOT NULL DEFAULT 0 CHECK (attempts_in_round BETWEEN 0 AND 8),
      delivered_at timestamptz,
      PRIMARY KEY (client_id, sequence)
    ) WITH (fillfactor = 85)`);
  // One event per fact, app and kind, whatever else goes wrong.
  await knex.raw('CREATE UNIQUE INDEX events_fact ON events (fact_id, client_id, event) WHERE fact_id IS NOT NULL');
  await knex.raw('CREATE INDEX events_created ON events USING brin (created)');
  // Without a foreign key: attempts are written by the very statement that moves their event, thousands in a second.
  await knex.raw(`
    CREATE TABLE delivery_attempts (
      client_id text NOT NULL,
      sequence bigint NOT NULL,
      attempt integer NOT NULL CHECK (attempt >= 1),
      at timestamptz NOT NULL,
      status_code integer,
      error text,
      duration_ms integer NOT NULL,
      PRIMARY KEY (client_id, sequence, attempt)
    )`);
  await knex.raw(`
    CREATE TABLE connections (
      svc_user_id text NOT NULL,
      client_id text NOT NULL,
      is_connected boolean NOT NULL,
      scope text NOT NULL,
      connected_at timestamptz NOT NULL,
      told_revision integer NOT NULL DEFAULT 0,
      PRIMARY KEY (svc_user_id, client_id)
    )`);
  await knex.raw('CREATE INDEX connections_client_id ON connections (client_id)');
  await knex.raw(`
    CREATE TABLE aggregate_versions (
      aggregate text PRIMARY KEY,
      version integer NOT NULL CHECK (version >= 0)
    )`);
  await inboxMigration(knex);
}
