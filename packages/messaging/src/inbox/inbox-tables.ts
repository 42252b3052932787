import { FIRST_EPOCH } from '@svc/contracts';
import type { Knex } from 'knex';

/** Creates `inbox`, `inbox_versions` and `dead_letters`, in a migration of the service. */
export const inboxMigration = async (knex: Knex): Promise<void> => {
  await knex.raw(`
    CREATE TABLE inbox (
      consumer text NOT NULL,
      event_id uuid NOT NULL,
      received_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (consumer, event_id)
    );
    CREATE INDEX inbox_by_age ON inbox USING brin (received_at);
    COMMENT ON TABLE inbox IS 'Events that have taken effect, for deduplication; kept for 15 days.';
    CREATE TABLE inbox_versions (
      consumer text NOT NULL,
      aggregate text NOT NULL,
      epoch uuid NOT NULL DEFAULT '${FIRST_EPOCH}',
      version bigint NOT NULL,
      failures integer NOT NULL DEFAULT 0,
      PRIMARY KEY (consumer, aggregate)
    );
    COMMENT ON TABLE inbox_versions IS 'The newest handled version of each aggregate, and the failures of the next one.';
    CREATE TABLE dead_letters (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      consumer text NOT NULL,
      event_id uuid,
      stream text NOT NULL,
      stream_seq bigint NOT NULL,
      subject text NOT NULL,
      payload text NOT NULL,
      deliveries integer NOT NULL,
      error_code text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      resolved_at timestamptz
    );
    CREATE UNIQUE INDEX dead_letters_event ON dead_letters (consumer, event_id) WHERE event_id IS NOT NULL;
    CREATE INDEX dead_letters_unresolved ON dead_letters (created_at) WHERE resolved_at IS NULL;
    COMMENT ON TABLE dead_letters IS 'Messages that could not be handled, for an operator to resolve.';
  `);
};
