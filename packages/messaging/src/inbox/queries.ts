import { runPrepared } from '@svc/database';
import type { Knex } from 'knex';

const PRUNE_BATCH = 1_000;
/** Of every transaction of every consumer, with up to hundreds of ids. */
const INSERT_INBOX = {
  name: 'insert_inbox',
  text: `INSERT INTO inbox (consumer, event_id) SELECT $1, event_id FROM unnest($2::uuid[]) AS given (event_id)
    ON CONFLICT (consumer, event_id) DO NOTHING RETURNING event_id`,
};

/** An event by its consumer, as both keys of the inbox. */
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

/** Notes events as handled; answers the ids of those that were not yet. Waits for a competitor's open transaction. */
export const insertInbox = async (
  trx: Knex.Transaction,
  consumer: string,
  eventIds: readonly string[],
): Promise<Set<string>> => {
  // In one order everywhere, so that two batches with common events cannot wait for each other in a circle.
  const inserted = await runPrepared<{ event_id: string }>(trx, INSERT_INBOX, [consumer, [...eventIds].sort()]);
  return new Set(inserted.map(({ event_id }) => event_id));
};

/** The newest handled version of an aggregate, locked; 0 while its first is being tried, undefined when never seen. */
export const findVersion = async (
  trx: Knex.Transaction,
  consumer: string,
  aggregate: string,
): Promise<number | undefined> => {
  const row = await trx('inbox_versions').where({ consumer, aggregate }).forUpdate().first('version');
  return row?.version;
};

/** Notes the newest handled version of an aggregate; never goes back. */
export const upsertVersion = async (
  database: Knex,
  key: { readonly consumer: string; readonly aggregate: string },
  version: number,
): Promise<void> => {
  await database('inbox_versions')
    .insert({ ...key, version })
    .onConflict(['consumer', 'aggregate'])
    .merge({ version: database.raw('greatest(inbox_versions.version, excluded.version)'), failures: 0 });
};

/** Counts a failure of the version that comes next; answers how many there were, undefined when it is not the next. */
export const insertVersionFailure = async (
  database: Knex,
  key: { readonly consumer: string; readonly aggregate: string },
  version: number,
): Promise<number | undefined> => {
  const [row] = await database('inbox_versions')
    .insert({ ...key, version: version - 1, failures: 1 })
    .onConflict(['consumer', 'aggregate'])
    .merge({ failures: database.raw('inbox_versions.failures + 1') })
    .where('inbox_versions.version', version - 1)
    .returning('failures');
  return row?.failures;
};

/** Parks a message; parking it again changes nothing. */
export const insertDeadLetter = async (database: Knex, letter: DeadLetter): Promise<void> => {
  await database('dead_letters').insert(letter).onConflict().ignore();
};

/** A parked message that somebody may still resolve. */
export interface StoredDeadLetter extends DeadLetter {
  readonly id: string;
  readonly created_at: Date;
  readonly resolved_at: Date | null;
}

const STORED = [
  ...['consumer', 'event_id', 'stream', 'stream_seq', 'subject', 'payload', 'deliveries', 'error_code'],
  ...['created_at', 'resolved_at'],
];

/** Unresolved dead letters after an id, in the order in which they were parked. */
export const listDeadLetters = async (
  database: Knex,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<StoredDeadLetter[]> => {
  return await database('dead_letters')
    .select(database.raw('id::text AS id'), ...STORED)
    .whereNull('resolved_at')
    .where('dead_letters.id', '>', after)
    .orderBy('dead_letters.id')
    .limit(limit);
};

/** How many are unresolved, counted no further than a bound. */
export const countDeadLetters = async (database: Knex, countedMax: number): Promise<number> => {
  const { rows } = await database.raw<{ rows: { total: number }[] }>(
    `SELECT count(*)::int AS total FROM (SELECT 1 FROM dead_letters WHERE resolved_at IS NULL LIMIT ?) AS unresolved`,
    [countedMax],
  );
  return rows[0]?.total ?? 0;
};

/** As `countDeadLetters`, of one consumer. */
export const countDeadLettersOf = async (database: Knex, consumer: string, countedMax: number): Promise<number> => {
  const { rows } = await database.raw<{ rows: { total: number }[] }>(
    `SELECT count(*)::int AS total FROM (
       SELECT 1 FROM dead_letters WHERE resolved_at IS NULL AND consumer = ? LIMIT ?
     ) AS unresolved`,
    [consumer, countedMax],
  );
  return rows[0]?.total ?? 0;
};

/** The consumer of a dead letter, resolved or not. */
export const findDeadLetterConsumer = async (database: Knex, id: string): Promise<string | undefined> => {
  const row = await database('dead_letters').where({ id }).first('consumer');
  return row?.consumer;
};

/** A dead letter, locked until the transaction ends. */
export const findDeadLetterForUpdate = async (
  trx: Knex.Transaction,
  id: string,
): Promise<StoredDeadLetter | undefined> => {
  return await trx('dead_letters')
    .select(trx.raw('id::text AS id'), ...STORED)
    .where({ id })
    .forUpdate()
    .first();
};

/** Nothing more is to be done about a dead letter. */
export const updateDeadLetterResolved = async (trx: Knex.Transaction, id: string): Promise<void> => {
  await trx('dead_letters').where({ id }).update({ resolved_at: trx.fn.now() });
};

/** Forgets one batch of events handled longer ago than this. Answers how many. */
export const deleteInboxBefore = async (database: Knex, consumer: string, ageSeconds: number): Promise<number> => {
  return await database('inbox')
    .whereIn(
      ['consumer', 'event_id'],
      database('inbox')
        .select('consumer', 'event_id')
        .where({ consumer })
        .whereRaw('received_at < now() - make_interval(secs => ?)', [ageSeconds])
        .limit(PRUNE_BATCH),
    )
    .delete();
};
