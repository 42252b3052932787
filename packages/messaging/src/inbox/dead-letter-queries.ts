import type { Knex } from 'knex';

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

export const findDeadLetterConsumer = async (database: Knex, id: string): Promise<string | undefined> => {
  const row = await database('dead_letters').where({ id }).first('consumer');
  return row?.consumer;
};

export const findDeadLetter = async (database: Knex, id: string): Promise<StoredDeadLetter | undefined> => {
  const [letter] = await selectStored(database).where({ id });
  return letter;
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
