import { type Clock, type Logger, type PeriodicWork, runPeriodically } from '@svc/service-kit';
import type { Knex } from 'knex';

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

/** Days for which a lane may be blocked before it is paused. */
const BLOCKED_DAYS_MAX = 30;
/** Lanes paused, and events given up, by one statement. */
const PAUSE_BATCH = 1_000;

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

/**
 * Pauses lanes that have been blocked for long, and has their owners mailed. Returns true if there may be more. An alarm that is
 * being mailed waits for the next run.
 */
export const pauseBlockedLanes = async (database: Knex): Promise<boolean> => {
  const { rowCount } = await database.raw<{ rowCount: number }>(
    `WITH old AS (
       SELECT l.owner_id FROM lanes l JOIN lane_alarms a ON a.owner_id = l.owner_id AND a.sequence = l.blocked_sequence
       WHERE l.blocked_sequence IS NOT NULL AND l.paused_at IS NULL AND a.is_mailed AND (
         SELECT max(at) FROM delivery_attempts d WHERE d.owner_id = l.owner_id AND d.sequence = l.blocked_sequence
       ) < now() - interval '${BLOCKED_DAYS_MAX} days'
       ORDER BY l.owner_id LIMIT ${PAUSE_BATCH} FOR NO KEY UPDATE OF l SKIP LOCKED
     ), paused AS (
       UPDATE lanes l SET paused_at = now() FROM old WHERE l.owner_id = old.owner_id RETURNING l.owner_id
     )
     UPDATE lane_alarms a SET change = 'paused', is_mailed = false FROM paused WHERE a.owner_id = paused.owner_id`,
  );
  return rowCount === PAUSE_BATCH;
};

/**
 * Gives up the oldest events of a paused lane that were stored before this time: they count as skipped, and the first one behind
 * them blocks the lane in their place. A lane without further events goes on with the next one. Returns true if there may be
 * more.
 */
export const giveUpOldEvents = async (database: Knex, createdBefore: number): Promise<boolean> => {
  const { rowCount } = await database.raw<{ rowCount: number }>(
    `WITH lane AS (
       SELECT l.owner_id, l.done_sequence, l.last_sequence FROM lanes l
       JOIN events head ON head.owner_id = l.owner_id AND head.sequence = l.blocked_sequence
       WHERE l.blocked_sequence IS NOT NULL AND l.paused_at IS NOT NULL AND head.created < :createdBefore
       ORDER BY l.owner_id LIMIT 1 FOR NO KEY UPDATE OF l SKIP LOCKED
     ), old AS (
       SELECT e.owner_id, e.sequence FROM lane, LATERAL (
         SELECT owner_id, sequence, created FROM events
         WHERE events.owner_id = lane.owner_id AND sequence > lane.done_sequence ORDER BY sequence LIMIT ${PAUSE_BATCH}
       ) e WHERE e.created < :createdBefore
     ), skipped AS (
       UPDATE events e SET status = 'skipped' FROM old WHERE e.owner_id = old.owner_id AND e.sequence = old.sequence
     ), moved AS (
       SELECT lane.owner_id, max(old.sequence) AS done, max(old.sequence) < lane.last_sequence AS has_more
       FROM lane JOIN old USING (owner_id) GROUP BY lane.owner_id, lane.last_sequence
     ), head AS (
       UPDATE events e SET status = 'failed' FROM moved WHERE e.owner_id = moved.owner_id AND e.sequence = moved.done + 1
       RETURNING e.owner_id, e.sequence, e.attempts
     ), alarm AS (
       UPDATE lane_alarms a SET sequence = head.sequence, attempts = head.attempts FROM head WHERE a.owner_id = head.owner_id
     ), dropped AS (
       DELETE FROM lane_alarms a USING moved WHERE a.owner_id = moved.owner_id AND NOT moved.has_more
     )
     UPDATE lanes l SET done_sequence = moved.done, blocked_sequence = CASE WHEN moved.has_more THEN moved.done + 1 END,
       paused_at = CASE WHEN moved.has_more THEN l.paused_at END
     FROM moved WHERE l.owner_id = moved.owner_id`,
    { createdBefore },
  );
  return rowCount > 0;
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

interface LanePage {
  readonly createdBefore: number;
  readonly after: string;
  readonly limit: number;
}

/** Deletes the chosen events with their attempts and returns their number. */
const deleteChosen = (choice: string): string => `WITH chosen AS (${choice}), attempts AS (
    DELETE FROM delivery_attempts d USING chosen c WHERE d.owner_id = c.owner_id AND d.sequence = c.sequence
  ), removed AS (
    DELETE FROM events e USING chosen c WHERE e.owner_id = c.owner_id AND e.sequence = c.sequence RETURNING 1
  )
  SELECT count(*)::int AS count FROM removed`;

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
