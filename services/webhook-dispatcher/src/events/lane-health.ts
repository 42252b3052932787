import type { Knex } from 'knex';
import type { Pace } from './lane.ts';

const PACES: readonly Pace[] = ['prompt', 'unknown', 'slow'];

export interface LaneHealth {
  readonly blocked: number;
  /** Waiting time of the lane that has been due the longest. */
  readonly oldestDueSeconds: number;
}

export const findLaneHealth = async (database: Knex): Promise<LaneHealth> => {
  const due = PACES.map((pace) => `(SELECT min(due_at) FROM lanes WHERE pace = '${pace}' AND due_at <= now())`);
  const { rows } = await database.raw<{ rows: LaneHealth[] }>(
    `SELECT (SELECT count(*)::int FROM lanes WHERE blocked_sequence IS NOT NULL) AS blocked,
       coalesce(extract(epoch FROM now() - least(${due.join(', ')})), 0)::float8 AS "oldestDueSeconds"`,
  );
  return rows[0] ?? { blocked: 0, oldestDueSeconds: 0 };
};

/** Counts due lanes up to a bound. */
export const countDueLanes = async (database: Knex, countedMax: number): Promise<number> => {
  const due = PACES.map((pace) => `SELECT 1 FROM lanes WHERE pace = '${pace}' AND due_at <= now()`);
  const { rows } = await database.raw<{ rows: { total: number }[] }>(
    `SELECT count(*)::int AS total FROM (${due.join(' UNION ALL ')} LIMIT ?) AS due`,
    [countedMax],
  );
  return rows[0]?.total ?? 0;
};

export interface BlockedLane {
  readonly owner_id: string;
  readonly event_id: string;
  readonly sequence: number;
  /** Last attempt of the event that failed, or its creation where a paused lane has moved on to it. */
  readonly blocked_at: Date;
}

/** Returns the owners whose events wait behind a failed one, from behind the owner `after`. */
export const listBlockedLanes = async (
  database: Knex,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<BlockedLane[]> => {
  const { rows } = await database.raw<{ rows: BlockedLane[] }>(
    `SELECT owner_id, event_id, blocked_sequence AS sequence,
       coalesce((SELECT max(at) FROM delivery_attempts d WHERE d.owner_id = lanes.owner_id AND d.sequence = blocked_sequence),
         to_timestamp(events.created)) AS blocked_at
     FROM lanes JOIN events USING (owner_id)
     WHERE blocked_sequence IS NOT NULL AND events.sequence = blocked_sequence AND owner_id > ?
     ORDER BY owner_id LIMIT ?`,
    [after, limit],
  );
  return rows;
};
