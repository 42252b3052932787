import type { Knex } from 'knex';

/**
 * Creates `outbox` and `outbox_streams`; called from a service's migration. `seq` alone orders rows within an aggregate,
 * whose row the writer has locked: commit order across aggregates is not `seq` order, so nobody reads by a cursor.
 */
export const outboxMigration = async (knex: Knex): Promise<void> => {
  await knex.raw(`
    CREATE TABLE outbox (
      seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      id uuid NOT NULL CONSTRAINT outbox_id_unique UNIQUE,
      aggregate text NOT NULL,
      version bigint NOT NULL CONSTRAINT outbox_version_positive CHECK (version > 0),
      stream text NOT NULL,
      subject text NOT NULL,
      payload jsonb NOT NULL,
      occurred_at timestamptz NOT NULL DEFAULT now(),
      published_at timestamptz,
      stream_seq bigint
    );
    CREATE INDEX outbox_unpublished ON outbox (stream, seq) WHERE published_at IS NULL;
    COMMENT ON TABLE outbox IS 'Facts that commit with the state they tell of; the relay sends them and keeps them for 7 days.';
    CREATE TABLE outbox_streams (
      stream text PRIMARY KEY,
      created text NOT NULL,
      last_stream_seq bigint NOT NULL,
      last_event_id uuid NOT NULL
    );
    COMMENT ON TABLE outbox_streams IS 'The last message that each stream acknowledged, to see when a broker lost what it had.';
  `);
};

/** Adds the trace in which a fact came to be; called from a later migration. Instant, whatever the table's size. */
export const outboxTraceMigration = async (knex: Knex): Promise<void> => {
  await knex.raw(`
    ALTER TABLE outbox ADD COLUMN traceparent text;
    COMMENT ON COLUMN outbox.traceparent IS 'W3C Trace Context of the request that caused the fact, where it is traced.';
  `);
};
