import type { Knex } from 'knex';

/** Days for which a lane may be blocked before it is paused. */
const BLOCKED_DAYS_MAX = 30;
/** Lanes paused, and events given up, by one statement. */
const BATCH = 1_000;

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
       ORDER BY l.owner_id LIMIT ${BATCH} FOR NO KEY UPDATE OF l SKIP LOCKED
     ), paused AS (
       UPDATE lanes l SET paused_at = now() FROM old WHERE l.owner_id = old.owner_id RETURNING l.owner_id
     )
     UPDATE lane_alarms a SET change = 'paused', is_mailed = false FROM paused WHERE a.owner_id = paused.owner_id`,
  );
  return rowCount === BATCH;
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
         WHERE events.owner_id = lane.owner_id AND sequence > lane.done_sequence ORDER BY sequence LIMIT ${BATCH}
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
