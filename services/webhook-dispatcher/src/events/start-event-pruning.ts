import { type Clock, type Logger, type PeriodicWork, runPeriodically } from '@svc/service-kit';
import type { Knex } from 'knex';
import { giveUpOldEvents, pauseBlockedLanes } from './pause-queries.ts';

/** Deletes the chosen events with their attempts and returns their number. */
const deleteChosen = (choice: string): string => `WITH chosen AS (${choice}), attempts AS (
    DELETE FROM delivery_attempts d USING chosen c WHERE d.owner_id = c.owner_id AND d.sequence = c.sequence
  ), removed AS (
    DELETE FROM events e USING chosen c WHERE e.owner_id = c.owner_id AND e.sequence = c.sequence RETURNING 1
  )
  SELECT count(*)::int AS count FROM removed`;

interface LanePage {
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
const deleteOldEvents = async (
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

export interface PruningDeps {
  readonly database: Knex;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly retentionDays: number;
}

const INTERVAL_MS = 3_600_000;
const LANES_PER_PAGE = 500;
const BATCH = 1_000;
const DAY_MS = 86_400_000;
/** Days after which a paused lane gives an event up. */
const WAITING_DAYS_MAX = 90;

/**
 * Deletes old events that are delivered, skipped or cancelled, pauses lanes that have been blocked for long, and gives up their
 * oldest events: now and every hour. Replicas may do so at the same time.
 */
export const startEventPruning = (deps: PruningDeps): PeriodicWork =>
  runPeriodically({
    name: 'event pruning',
    intervalMs: INTERVAL_MS,
    run: async (signal) => {
      await endAbandoned(deps, signal);
      await pruneEvents(deps, signal);
    },
    logger: deps.logger,
  });

const endAbandoned = async ({ database, clock }: PruningDeps, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted && (await pauseBlockedLanes(database)));
  const createdBefore = Math.floor((clock().getTime() - WAITING_DAYS_MAX * DAY_MS) / 1_000);
  while (!signal.aborted && (await giveUpOldEvents(database, createdBefore)));
};

const pruneEvents = async (deps: PruningDeps, signal: AbortSignal): Promise<void> => {
  const { database, clock, logger, retentionDays } = deps;
  const createdBefore = Math.floor((clock().getTime() - retentionDays * DAY_MS) / 1_000);
  let total = 0;
  for (let after: string | undefined = ''; after !== undefined && !signal.aborted; ) {
    const lanes = await listLanesToPrune(database, { createdBefore, after, limit: LANES_PER_PAGE });
    for (const { ownerId, hasOld } of lanes) {
      if (hasOld) total += await pruneLane(database, { ownerId, createdBefore }, signal);
    }
    after = lanes.length === LANES_PER_PAGE ? lanes.at(-1)?.ownerId : undefined;
  }
  if (total > 0) logger.info({ count: total }, 'old events were deleted');
};

const pruneLane = async (
  database: Knex,
  lane: { readonly ownerId: string; readonly createdBefore: number },
  signal: AbortSignal,
): Promise<number> => {
  let total = 0;
  for (let count = BATCH; count === BATCH && !signal.aborted; total += count) {
    count = await deleteOldEvents(database, { ...lane, limit: BATCH });
  }
  return total;
};
