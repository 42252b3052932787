import type { Knex } from 'knex';

/**
 * Creates `outbox` and `outbox_streams`, in a migration of the service. `seq` orders the rows of an aggregate, which its writer
 * holds locked. Across aggregates the order of commits differs, so the relay does not read by a cursor.
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
    COMMENT ON TABLE outbox IS 'Facts, committed with the state change they describe; kept for 7 days after publication.';
    CREATE TABLE outbox_streams (
      stream text PRIMARY KEY,
      created text NOT NULL,
      last_stream_seq bigint NOT NULL,
      last_event_id uuid NOT NULL
    );
    COMMENT ON TABLE outbox_streams IS 'The last acknowledged message of each stream, to detect that a broker lost data.';
  `);
};

/** Adds the trace of a fact, in a later migration. Instant, regardless of the table's size. */
export const outboxTraceMigration = async (knex: Knex): Promise<void> => {
  await knex.raw(`
    ALTER TABLE outbox ADD COLUMN traceparent text;
    COMMENT ON COLUMN outbox.traceparent IS 'W3C Trace Context of the request that caused the fact, if it is traced.';
  `);
};
