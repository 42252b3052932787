import { runPrepared } from '@svc/database';
import type { Knex } from 'knex';

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

const RAISE_VERSIONS = {
  name: 'raise_versions',
  text: `INSERT INTO inbox_versions AS known (consumer, aggregate, version)
    SELECT $1, aggregate, version FROM unnest($2::text[], $3::bigint[]) AS given (aggregate, version) ORDER BY aggregate
    ON CONFLICT (consumer, aggregate) DO UPDATE SET
      version = greatest(known.version, excluded.version),
      failures = CASE WHEN excluded.version > known.version THEN 0 ELSE known.failures END
    RETURNING known.aggregate, old.version AS before`,
};

/**
 * Records the newest handled version of each aggregate, and locks its row until the transaction ends. Returns the versions
 * from before: 0 while the first one is being retried, none for an aggregate that was never seen.
 */
export const raiseVersions = async (
  database: Knex,
  consumer: string,
  versions: ReadonlyMap<string, number>,
): Promise<Map<string, number>> => {
  const rows = await runPrepared<{ aggregate: string; before: number | null }>(database, RAISE_VERSIONS, [
    consumer,
    [...versions.keys()],
    [...versions.values()],
  ]);
  return new Map(rows.flatMap(({ aggregate, before }) => (before === null ? [] : [[aggregate, before]])));
};

/** Returns the newest handled version of an aggregate, and locks its row. */
export const findVersion = async (
  trx: Knex.Transaction,
  consumer: string,
  aggregate: string,
): Promise<number | undefined> => {
  const row = await trx('inbox_versions').where({ consumer, aggregate }).forUpdate().first('version');
  return row?.version;
};

export interface VersionFailure {
  readonly consumer: string;
  readonly aggregate: string;
  readonly version: number;
  /** Inserts a row for an aggregate that was never seen, which makes this version the next one. */
  readonly mayInsert: boolean;
}

const COUNT_VERSION_FAILURE = {
  name: 'count_version_failure',
  text: `INSERT INTO inbox_versions AS known (consumer, aggregate, version, failures)
    SELECT $1, $2, $3::bigint - 1, 1
    WHERE $4::boolean OR EXISTS (SELECT 1 FROM inbox_versions WHERE consumer = $1 AND aggregate = $2)
    ON CONFLICT (consumer, aggregate) DO UPDATE SET failures = known.failures + 1 WHERE known.version = $3::bigint - 1
    RETURNING failures`,
};

/** Counts a failure of the next version and returns the new count, or undefined for any other version. */
export const countVersionFailure = async (
  database: Knex,
  { consumer, aggregate, version, mayInsert }: VersionFailure,
): Promise<number | undefined> => {
  const values = [consumer, aggregate, version, mayInsert];
  const [row] = await runPrepared<{ failures: number }>(database, COUNT_VERSION_FAILURE, values);
  return row?.failures;
};

export interface DeadLetter {
  readonly consumer: string;
  readonly event_id: string | null;
  readonly stream: string;
  readonly stream_seq: number;
  readonly subject: string;
  readonly payload: string;
  readonly deliveries: number;
  readonly error_code: string;
}

export interface StoredDeadLetter extends DeadLetter {
  readonly id: string;
  readonly created_at: Date;
  readonly resolved_at: Date | null;
}

/** Columns of a stored dead letter. A missing or unknown one fails to compile. */
const STORED: Readonly<Record<keyof StoredDeadLetter, string>> = {
  id: 'id::text AS id',
  consumer: 'consumer',
  event_id: 'event_id',
  stream: 'stream',
  stream_seq: 'stream_seq',
  subject: 'subject',
  payload: 'payload',
  deliveries: 'deliveries',
  error_code: 'error_code',
  created_at: 'created_at',
  resolved_at: 'resolved_at',
};

const selectStored = (database: Knex) =>
  database('dead_letters').select<StoredDeadLetter[]>(Object.values(STORED).map((column) => database.raw(column)));

/** Stores a dead letter; a second one for the same message changes nothing. */
export const insertDeadLetter = async (database: Knex, letter: DeadLetter): Promise<void> => {
  await database('dead_letters').insert(letter).onConflict().ignore();
};

/** Returns unresolved dead letters after an id, oldest first. */
export const listDeadLetters = async (
  database: Knex,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<StoredDeadLetter[]> =>
  await selectStored(database)
    .whereNull('resolved_at')
    .where('dead_letters.id', '>', after)
    .orderBy('dead_letters.id')
    .limit(limit);

/** Counts unresolved dead letters up to a bound, of one consumer or of all. */
export const countDeadLetters = async (
  database: Knex,
  { consumer = null, countedMax }: { readonly consumer?: string | null; readonly countedMax: number },
): Promise<number> => {
  const { rows } = await database.raw<{ rows: { total: number }[] }>(
    `SELECT count(*)::int AS total FROM (
       SELECT 1 FROM dead_letters
       WHERE resolved_at IS NULL AND (:consumer::text IS NULL OR consumer = :consumer) LIMIT :countedMax
     ) AS unresolved`,
    { consumer, countedMax },
  );
  return rows[0]?.total ?? 0;
};

/** Returns the consumer of a dead letter, resolved or not. */
export const findDeadLetterConsumer = async (database: Knex, id: string): Promise<string | undefined> => {
  const row = await database('dead_letters').where({ id }).first('consumer');
  return row?.consumer;
};

/** Returns a dead letter, locked until the transaction ends. */
export const findDeadLetterForUpdate = async (
  trx: Knex.Transaction,
  id: string,
): Promise<StoredDeadLetter | undefined> => {
  const [letter] = await selectStored(trx).where({ id }).forUpdate();
  return letter;
};

export const updateDeadLetterResolved = async (trx: Knex.Transaction, id: string): Promise<void> => {
  await trx('dead_letters').where({ id }).update({ resolved_at: trx.fn.now() });
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
