import { runPrepared } from '@svc/database';
import type { Knex } from 'knex';
import { type ClaimedLane, LEASE, LEASE_MS, LEASE_RENEWED_AFTER_MS, type Pace } from './lane-queries.ts';
import { type ContentRow, type EventContent, toContent } from './queries.ts';

/** What an attempt came to, and what follows for its event. */
export interface AttemptOutcome {
  readonly lane: ClaimedLane;
  /** 1 for the event's first attempt ever. */
  readonly attempt: number;
  readonly result: 'delivered' | 'retry' | 'failed';
  /** Until the next attempt; only for `retry`. */
  readonly retryDelayMs: number;
  /** Go on with the lane's next event, when there is one, under the same lease; at most LEASE_RENEWED_AFTER_MS of it are over. */
  readonly keepLane: boolean;
  /** How the receiver answered: its lane then waits among its like. */
  readonly pace: Pace;
  readonly at: Date;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly durationMs: number;
}

/** What became of a lane after its outcome was written. */
export interface RecordedOutcome {
  readonly clientId: string;
  readonly leaseToken: number;
  /** The lane is still held, and its next event may be attempted. */
  readonly isKept: boolean;
  /** That next event; undefined when it was stored too short a time ago for this statement to see it. */
  readonly next: EventContent | undefined;
}

const KEPT_LEASE = `CASE
  WHEN l.leased_until > now() + interval '${LEASE_MS - LEASE_RENEWED_AFTER_MS} milliseconds' THEN l.leased_until
  ELSE now() + ${LEASE}
END`;

const RECORD_OUTCOMES = {
  name: 'record_outcomes',
  text: `WITH given AS (
      SELECT * FROM unnest(
        $1::text[], $2::bigint[], $3::bigint[], $4::int[], $5::text[], $6::bigint[], $7::boolean[], $8::text[],
        $9::timestamptz[], $10::int[], $11::text[], $12::int[]
      ) AS g (client_id, lease_token, sequence, attempt, result, delay_ms, keep, pace, at, status_code, error, duration_ms)
    ), held AS (
      SELECT l.client_id FROM lanes l JOIN given g USING (client_id, lease_token)
      WHERE l.leased_until IS NOT NULL AND l.done_sequence = g.sequence - 1
      ORDER BY l.client_id FOR NO KEY UPDATE OF l
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
      FROM held JOIN given g USING (client_id)
      WHERE l.client_id = held.client_id AND l.lease_token = g.lease_token
        AND l.leased_until IS NOT NULL AND l.done_sequence = g.sequence - 1
      RETURNING l.client_id, l.lease_token, l.leased_until IS NOT NULL AS is_kept, l.done_sequence + 1 AS next_sequence
    ), changed AS (
      UPDATE events e SET
        status = CASE g.result WHEN 'retry' THEN 'queued' ELSE g.result END,
        attempts = g.attempt,
        attempts_in_round = e.attempts_in_round + 1,
        delivered_at = CASE g.result WHEN 'delivered' THEN g.at + g.duration_ms * interval '1 millisecond' END
      FROM moved m JOIN given g USING (client_id)
      WHERE e.client_id = g.client_id AND e.sequence = g.sequence
    ), logged AS (
      INSERT INTO delivery_attempts (client_id, sequence, attempt, at, status_code, error, duration_ms)
      SELECT g.client_id, g.sequence, g.attempt, g.at, g.status_code, g.error, g.duration_ms
      FROM moved m JOIN given g USING (client_id)
    )
    SELECT m.client_id, m.lease_token, m.is_kept, n.sequence, n.event_id, n.event, n.generation, n.attempts,
      n.attempts_in_round, n.body
    FROM moved m LEFT JOIN events n
      ON m.is_kept AND n.client_id = m.client_id AND n.sequence = m.next_sequence AND n.status = 'queued'`,
};

/**
 * Writes outcomes of any number of lanes in one statement. One whose lease was lost (it ran out and another worker took the
 * lane, or a new generation began) changes nothing and is missing from the answer. Writing one twice is harmless.
 */
export const recordOutcomes = async (
  database: Knex,
  outcomes: readonly AttemptOutcome[],
): Promise<RecordedOutcome[]> => {
  const rows = await runPrepared<RecordedRow>(database, RECORD_OUTCOMES, columnsOf(outcomes));
  return rows.map((row) => ({
    clientId: row.client_id,
    leaseToken: row.lease_token,
    isKept: row.is_kept,
    next: row.event_id === null ? undefined : toContent(row),
  }));
};

interface RecordedMove {
  client_id: string;
  lease_token: number;
  is_kept: boolean;
}

/** Outer join: either the whole next event is there, or nothing of it. */
type RecordedRow = RecordedMove & (ContentRow | { event_id: null });

const columnsOf = (outcomes: readonly AttemptOutcome[]): unknown[][] => {
  return [
    outcomes.map(({ lane }) => lane.clientId),
    outcomes.map(({ lane }) => lane.leaseToken),
    outcomes.map(({ lane }) => lane.sequence),
    outcomes.map(({ attempt }) => attempt),
    outcomes.map(({ result }) => result),
    outcomes.map(({ retryDelayMs }) => retryDelayMs),
    outcomes.map(({ keepLane }) => keepLane),
    outcomes.map(({ pace }) => pace),
    outcomes.map(({ at }) => at),
    outcomes.map(({ statusCode }) => statusCode),
    outcomes.map(({ error }) => error),
    outcomes.map(({ durationMs }) => durationMs),
  ];
};
