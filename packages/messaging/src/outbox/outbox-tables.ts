import { FIRST_EPOCH, REVOCATIONS_STREAM } from '@svc/contracts';
import type { Knex } from 'knex';
import { uuidV7 } from './append-to-outbox.ts';

/**
 * Creates `outbox`, `outbox_streams` and `epochs`, in a migration of the service. `seq` orders the rows of an aggregate, which
 * its writer holds locked. Across aggregates the order of commits differs, so the relay does not read by a cursor.
 *
 * Each fact carries the newest epoch of the database. A restore to an earlier moment begins another, because versions grow
 * again from what they were then.
 */
export const outboxMigration = async (knex: Knex): Promise<void> => {
  await knex.raw(`
    CREATE TABLE epochs (
      epoch uuid PRIMARY KEY,
      restored_to timestamptz CONSTRAINT epochs_restored_to_unique UNIQUE,
      began_at timestamptz NOT NULL DEFAULT now()
    );
    COMMENT ON TABLE epochs IS 'Lives of this database; each restore to an earlier moment begins one.';
    INSERT INTO epochs (epoch) VALUES ('${FIRST_EPOCH}');
    CREATE FUNCTION current_epoch() RETURNS uuid LANGUAGE sql STABLE
      AS 'SELECT epoch FROM epochs ORDER BY epoch DESC LIMIT 1';

    CREATE TABLE outbox (
      seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      id uuid NOT NULL CONSTRAINT outbox_id_unique UNIQUE,
      aggregate text NOT NULL,
      epoch uuid NOT NULL DEFAULT current_epoch(),
      version bigint NOT NULL CONSTRAINT outbox_version_positive CHECK (version > 0),
      stream text NOT NULL,
      subject text NOT NULL,
      payload jsonb NOT NULL,
      traceparent text,
      occurred_at timestamptz NOT NULL DEFAULT now(),
      published_at timestamptz,
      stream_seq bigint
    );
    CREATE INDEX outbox_unpublished ON outbox (stream, seq) WHERE published_at IS NULL;
    CREATE INDEX outbox_revocations ON outbox (subject COLLATE "C") WHERE stream = '${REVOCATIONS_STREAM}';
    COMMENT ON TABLE outbox IS 'Facts, committed with the state change they describe; kept for 7 days after publication.';
    COMMENT ON COLUMN outbox.traceparent IS 'W3C Trace Context of the request that caused the fact, if it is traced.';

    CREATE TABLE outbox_streams (
      stream text PRIMARY KEY,
      created text NOT NULL,
      last_stream_seq bigint NOT NULL,
      last_event_id uuid NOT NULL
    );
    COMMENT ON TABLE outbox_streams IS 'The last acknowledged message of each stream, to detect that a broker lost data.';
  `);
};

/** A life of the database, from one restore to the next. */
export interface Epoch {
  readonly epoch: string;
  readonly beganAt: Date;
}

/**
 * Begins the epoch after a restore to this moment, and returns it. A repetition for the same moment returns the one that
 * began. Waits for the transactions that have read an epoch, so that none publishes in one epoch what it has numbered in
 * another.
 */
export const beginEpoch = async (database: Knex, restoredTo: Date): Promise<Epoch> =>
  await database.transaction(async (trx) => {
    await trx.raw('LOCK TABLE epochs IN ACCESS EXCLUSIVE MODE');
    await trx('epochs').insert({ epoch: uuidV7(), restored_to: restoredTo }).onConflict('restored_to').ignore();
    const { epoch, began_at: beganAt } = await trx('epochs').where({ restored_to: restoredTo }).first();
    return { epoch, beganAt };
  });
