import { FIRST_EPOCH } from '@svc/contracts';
import { runPrepared } from '@svc/database';
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

const PRUNE_BATCH = 1_000;
const INSERT_INBOX = {
  name: 'insert_inbox',
  text: `INSERT INTO inbox (consumer, event_id) SELECT $1, event_id FROM unnest($2::uuid[]) AS given (event_id)
    ON CONFLICT (consumer, event_id) DO NOTHING RETURNING event_id`,
};

/** Records events as handled and returns the ids of the new ones. Waits for a competitor's open transaction. */
export const insertInbox = async (
  trx: Knex.Transaction,
  consumer: string,
  eventIds: readonly string[],
): Promise<Set<string>> => {
  // Sorted, so that two batches with common events cannot deadlock.
  const inserted = await runPrepared<{ event_id: string }>(trx, INSERT_INBOX, [consumer, [...eventIds].sort()]);
  return new Set(inserted.map(({ event_id }) => event_id));
};

/** A version of an aggregate, in an epoch of its publisher's database. */
export interface EpochVersion {
  readonly epoch: string;
  readonly version: number;
}

/** Returns true if the first comes before the second. UUIDs of version 7 sort by time, as text too. */
export const isEarlier = (one: EpochVersion, other: EpochVersion): boolean =>
  one.epoch === other.epoch ? one.version < other.version : one.epoch < other.epoch;

const RAISE_VERSIONS = {
  name: 'raise_versions',
  text: `INSERT INTO inbox_versions AS known (consumer, aggregate, version, epoch)
    SELECT $1, aggregate, version, epoch
    FROM unnest($2::text[], $3::bigint[], $4::uuid[]) AS given (aggregate, version, epoch) ORDER BY aggregate
    ON CONFLICT (consumer, aggregate) DO UPDATE SET
      version = CASE WHEN (excluded.epoch, excluded.version) > (known.epoch, known.version)
        THEN excluded.version ELSE known.version END,
      epoch = greatest(known.epoch, excluded.epoch),
      failures = CASE WHEN (excluded.epoch, excluded.version) > (known.epoch, known.version)
        THEN 0 ELSE known.failures END
    RETURNING known.aggregate, old.version AS before, old.epoch AS epoch_before`,
};

/**
 * Records the newest handled version of each aggregate, and locks its row until the transaction ends. Returns the versions
 * from before: 0 while the first one is being retried, none for an aggregate that was never seen.
 */
export const raiseVersions = async (
  database: Knex,
  consumer: string,
  versions: ReadonlyMap<string, EpochVersion>,
): Promise<Map<string, EpochVersion>> => {
  const given = [...versions.values()];
  const rows = await runPrepared<{ aggregate: string; before: number | null; epoch_before: string }>(
    database,
    RAISE_VERSIONS,
    [consumer, [...versions.keys()], given.map(({ version }) => version), given.map(({ epoch }) => epoch)],
  );
  return new Map(
    rows.flatMap(({ aggregate, before, epoch_before: epoch }) =>
      before === null ? [] : [[aggregate, { epoch, version: before }]],
    ),
  );
};

/** Returns the newest handled version of an aggregate, and locks its row. */
export const findVersion = async (
  trx: Knex.Transaction,
  consumer: string,
  aggregate: string,
): Promise<EpochVersion | undefined> =>
  await trx('inbox_versions').where({ consumer, aggregate }).forUpdate().first('epoch', 'version');

/** Reads the newest handled versions of aggregates, without a lock. Omits aggregates that were never seen. */
export const readVersions = async (
  database: Knex,
  consumer: string,
  aggregates: readonly string[],
): Promise<Map<string, EpochVersion>> => {
  const rows = await database('inbox_versions')
    .where({ consumer })
    .whereIn('aggregate', aggregates)
    .select('aggregate', 'epoch', 'version');
  return new Map(rows.map(({ aggregate, epoch, version }) => [aggregate, { epoch, version }]));
};

interface VersionFailure {
  readonly consumer: string;
  readonly aggregate: string;
  readonly version: number;
  readonly epoch: string;
  /** Inserts a row for an aggregate that was never seen, which makes this version the next one. */
  readonly mayInsert: boolean;
}

const COUNT_VERSION_FAILURE = {
  name: 'count_version_failure',
  text: `INSERT INTO inbox_versions AS known (consumer, aggregate, version, epoch, failures)
    SELECT $1, $2, $3::bigint - 1, $5::uuid, 1
    WHERE $4::boolean OR EXISTS (SELECT 1 FROM inbox_versions WHERE consumer = $1 AND aggregate = $2)
    ON CONFLICT (consumer, aggregate) DO UPDATE SET failures = known.failures + 1 
      WHERE known.version = $3::bigint - 1 AND known.epoch = $5::uuid
    RETURNING failures`,
};

/** Counts a failure of the next version and returns the new count, or undefined for any other version. */
export const countVersionFailure = async (
  database: Knex,
  { consumer, aggregate, version, epoch, mayInsert }: VersionFailure,
): Promise<number | undefined> => {
  const values = [consumer, aggregate, version, mayInsert, epoch];
  const [row] = await runPrepared<{ failures: number }>(database, COUNT_VERSION_FAILURE, values);
  return row?.failures;
};

/** Deletes one batch of inbox rows older than this and returns their number. */
export const deleteInboxBefore = async (database: Knex, consumer: string, ageSeconds: number): Promise<number> =>
  await database('inbox')
    .whereIn(
      ['consumer', 'event_id'],
      database('inbox')
        .select('consumer', 'event_id')
        .where({ consumer })
        .whereRaw('received_at < now() - make_interval(secs => ?)', [ageSeconds])
        .limit(PRUNE_BATCH),
    )
    .delete();
