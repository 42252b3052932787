import type { Knex } from 'knex';

/** Deletes the chosen events with their attempts and returns their number. */
const deleteChosen = (choice: string): string => `WITH chosen AS (${choice}), attempts AS (
    DELETE FROM delivery_attempts d USING chosen c WHERE d.owner_id = c.owner_id AND d.sequence = c.sequence
  ), removed AS (
    DELETE FROM events e USING chosen c WHERE e.owner_id = c.owner_id AND e.sequence = c.sequence RETURNING 1
  )
  SELECT count(*)::int AS count FROM removed`;

export interface LanePage {
  readonly createdBefore: number;
  readonly after: string;
  readonly limit: number;
}

/**
 * Returns the next owners in the order of their ids, and which of them have old events that are done. Reads one event of each:
 * events are stored and done in the order of their sequences.
 */
export const listLanesToPrune = async (
  database: Knex,
  { createdBefore, after, limit }: LanePage,
): Promise<{ readonly ownerId: string; readonly hasOld: boolean }[]> => {
  const { rows } = await database.raw<{ rows: { ownerId: string; hasOld: boolean }[] }>(
    `SELECT l.owner_id AS "ownerId", coalesce(oldest.created < :createdBefore, false) AS "hasOld"
     FROM (SELECT owner_id, done_sequence FROM lanes WHERE owner_id > :after ORDER BY owner_id LIMIT :limit) l
     LEFT JOIN LATERAL (
       SELECT created FROM events e WHERE e.owner_id = l.owner_id AND e.sequence <= l.done_sequence
       ORDER BY e.sequence LIMIT 1
     ) oldest ON true
     ORDER BY l.owner_id`,
    { createdBefore, after, limit },
  );
  return rows;
};

const DELETE_OLD_EVENTS = deleteChosen(
  // Reads no more than a batch, of which the last may be too new.
  `SELECT owner_id, sequence FROM (
     SELECT owner_id, sequence, created FROM events
     WHERE owner_id = :ownerId AND sequence <= (SELECT done_sequence FROM lanes WHERE owner_id = :ownerId)
     ORDER BY sequence LIMIT :limit FOR UPDATE SKIP LOCKED) AS oldest
   WHERE created < :createdBefore`,
);

/** Deletes up to `limit` events of an owner that are done and were stored before this time. Returns their number. */
export const deleteOldEvents = async (
  database: Knex,
  selection: { readonly ownerId: string; readonly createdBefore: number; readonly limit: number },
): Promise<number> => {
  const { rows } = await database.raw<{ rows: { count: number }[] }>(DELETE_OLD_EVENTS, selection);
  return rows[0]?.count ?? 0;
};

const DELETE_EVENTS_OF_OWNER = deleteChosen(
  'SELECT owner_id, sequence FROM events WHERE owner_id = :ownerId ORDER BY sequence LIMIT :limit FOR UPDATE',
);

/** Deletes up to `limit` events of an owner and returns their number. */
export const deleteEventsOfOwner = async (trx: Knex.Transaction, ownerId: string, limit: number): Promise<number> => {
  const { rows } = await trx.raw<{ rows: { count: number }[] }>(DELETE_EVENTS_OF_OWNER, { ownerId, limit });
  return rows[0]?.count ?? 0;
};
