import { recordColumns, runPrepared } from '@svc/database';
import type { Knex } from 'knex';
import { contentColumns, type EventContent, type JoinedContent, splitContent } from './event.ts';
import { type ClaimedLane, LEASE, LEASE_MS, LEASE_RENEWED_AFTER_MS, type Pace } from './lanes.ts';

/** The result of an attempt and its consequences for the event. */
export interface AttemptOutcome {
  readonly lane: ClaimedLane;
  /** Number of the attempt, from 1, over all rounds. */
  readonly attempt: number;
  readonly result: 'delivered' | 'retry' | 'failed';
  /** Delay of the next attempt; only for `retry`. */
  readonly retryDelayMs: number;
  /** Goes on with the lane's next event under the same lease, of which at most LEASE_RENEWED_AFTER_MS have passed. */
  readonly keepLane: boolean;
  readonly pace: Pace;
  readonly at: Date;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly durationMs: number;
}

/** The state of a lane after its outcome was recorded. */
export interface RecordedOutcome {
  readonly ownerId: string;
  readonly leaseToken: number;
  /** The lane is still leased, and its next event may be attempted. */
  readonly isKept: boolean;
  /** The next event, unless it was stored too recently for the statement to see it. */
  readonly next: EventContent | undefined;
}

type OutcomeRow = Omit<AttemptOutcome, 'lane'> & Pick<ClaimedLane, 'ownerId' | 'leaseToken' | 'sequence'>;
type LaneRow = Omit<RecordedOutcome, 'next'>;

const outcomeColumns = recordColumns<OutcomeRow>({
  ownerId: 'owner_id text',
  leaseToken: 'lease_token bigint',
  sequence: 'sequence bigint',
  attempt: 'attempt integer',
  result: 'result text',
  retryDelayMs: 'delay_ms bigint',
  keepLane: 'keep boolean',
  pace: 'pace text',
  at: 'at timestamptz',
  statusCode: 'status_code integer',
  error: 'error text',
  durationMs: 'duration_ms integer',
});
const laneColumns = recordColumns<LaneRow>({
  ownerId: 'owner_id text',
  leaseToken: 'lease_token bigint',
  isKept: 'is_kept boolean',
});

const KEPT_LEASE = `CASE
  WHEN l.leased_until > now() + interval '${LEASE_MS - LEASE_RENEWED_AFTER_MS} milliseconds' THEN l.leased_until
  ELSE now() + ${LEASE}
END`;

const RECORD_OUTCOMES = {
  name: 'record_outcomes',
  text: `WITH given AS (
      SELECT * FROM ${outcomeColumns.unnest('g')}
    ), held AS (
      SELECT l.owner_id FROM lanes l JOIN given g USING (owner_id, lease_token)
      WHERE l.leased_until IS NOT NULL AND l.done_sequence = g.sequence - 1
      ORDER BY l.owner_id FOR NO KEY UPDATE OF l
    ), moved AS (
      UPDATE lanes l SET
        done_sequence = CASE g.result WHEN 'delivered' THEN g.sequence ELSE l.done_sequence END,
        blocked_sequence = CASE g.result WHEN 'failed' THEN g.sequence END,
        due_at = CASE
          WHEN g.result = 'failed' THEN NULL
          WHEN g.result = 'retry' THEN now() + g.delay_ms * interval '1 millisecond'
          WHEN l.last_sequence = g.sequence THEN NULL
          WHEN g.keep THEN ${KEPT_LEASE}
          ELSE now()
        END,
        leased_until = CASE WHEN g.result = 'delivered' AND g.keep AND l.last_sequence > g.sequence THEN ${KEPT_LEASE} END,
        pace = g.pace
      FROM held JOIN given g USING (owner_id)
      WHERE l.owner_id = held.owner_id AND l.lease_token = g.lease_token
        AND l.leased_until IS NOT NULL AND l.done_sequence = g.sequence - 1
      RETURNING l.owner_id, l.lease_token, l.leased_until IS NOT NULL AS is_kept, l.done_sequence + 1 AS next_sequence
    ), changed AS (
      UPDATE events e SET
        status = CASE g.result WHEN 'retry' THEN 'queued' ELSE g.result END,
        attempts = g.attempt,
        attempts_in_round = e.attempts_in_round + 1,
        delivered_at = CASE g.result WHEN 'delivered' THEN g.at + g.duration_ms * interval '1 millisecond' END
      FROM moved m JOIN given g USING (owner_id)
      WHERE e.owner_id = g.owner_id AND e.sequence = g.sequence
    ), logged AS (
      INSERT INTO delivery_attempts (owner_id, sequence, attempt, at, status_code, error, duration_ms)
      SELECT g.owner_id, g.sequence, g.attempt, g.at, g.status_code, g.error, g.duration_ms
      FROM moved m JOIN given g USING (owner_id)
    )
    SELECT ${laneColumns.select('m')}, ${contentColumns.select('n')}
    FROM moved m LEFT JOIN events n
      ON m.is_kept AND n.owner_id = m.owner_id AND n.sequence = m.next_sequence AND n.status = 'queued'`,
};

/**
 * Records the outcomes of many lanes in one statement. An outcome whose lease was lost, to another worker or to a new
 * generation, changes nothing and is missing from the result. Recording an outcome twice is harmless.
 */
export const recordOutcomes = async (
  database: Knex,
  outcomes: readonly AttemptOutcome[],
): Promise<RecordedOutcome[]> => {
  const values = outcomeColumns.arrays(outcomes.map(({ lane, ...outcome }) => ({ ...lane, ...outcome })));
  const rows = await runPrepared<LaneRow & JoinedContent>(database, RECORD_OUTCOMES, values);
  return rows.map((row) => {
    const { rest, content: next } = splitContent(row);
    return { ...rest, next };
  });
};
