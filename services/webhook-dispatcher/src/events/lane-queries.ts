import { runPrepared } from '@svc/database';
import type { Knex } from 'knex';
import { sqlColumn } from '../sql-array.ts';
import { type ContentRow, type EventContent, toContent } from './queries.ts';

/** A lane that this process may work on until its lease ends. */
export interface ClaimedLane {
  readonly clientId: string;
  readonly generation: number;
  /** The event that is next. */
  readonly sequence: number;
  readonly leaseToken: number;
  /** As it was when the lane was claimed. */
  readonly pace: Pace;
}

/** A lane as it was claimed. */
export interface Claim {
  readonly lane: ClaimedLane;
  /** Its next event; undefined when that was stored too short a time ago for the claim to see it. */
  readonly content: EventContent | undefined;
}

/**
 * How an app's receiver answered last: soon (prompt), late or not at all (slow). Unknown in a new generation, and after the
 * first late answer of a prompt one. Lanes of each pace have their own places in a worker, so that receivers that hang, and
 * those that might, keep no other waiting.
 */
export type Pace = 'prompt' | 'unknown' | 'slow';

/** Longer than an attempt (10 s) with its write-back; a worker that dies is replaced after so long. */
export const LEASE_MS = 15_000;
/**
 * A lease younger than this is not renewed when its lane goes on: an unchanged `due_at` leaves the index alone, which spares
 * an entry for each delivery.
 */
export const LEASE_RENEWED_AFTER_MS = 1_000;

/** As SQL. */
export const LEASE = `interval '${LEASE_MS} milliseconds'`;

/** A locked lane. */
export interface LaneHead {
  readonly clientId: string;
  readonly generation: number;
  /** The last place given out. */
  readonly lastSequence: number;
  readonly leaseToken: number;
  readonly pace: Pace;
  /** Nothing waits in it, and nobody works on it. */
  readonly isIdle: boolean;
}

const LOCK_LANES = {
  name: 'lock_lanes',
  text: `SELECT client_id, generation, last_sequence, lease_token, pace,
      due_at IS NULL AND blocked_sequence IS NULL AND done_sequence = last_sequence AS is_idle
    FROM lanes WHERE client_id = ANY($1) ORDER BY client_id FOR NO KEY UPDATE`,
};

/** Locks the lanes of these apps in a fixed order, so that those who lock several never wait in a circle. */
export const lockLanes = async (trx: Knex.Transaction, clientIds: readonly string[]): Promise<LaneHead[]> => {
  const rows = await runPrepared<LaneHeadRow>(trx, LOCK_LANES, [clientIds]);
  return rows.map((row) => ({
    clientId: row.client_id,
    generation: row.generation,
    lastSequence: row.last_sequence,
    leaseToken: row.lease_token,
    pace: row.pace,
    isIdle: row.is_idle,
  }));
};

interface LaneHeadRow {
  client_id: string;
  generation: number;
  last_sequence: number;
  lease_token: number;
  pace: Pace;
  is_idle: boolean;
}

/**
 * Ends the lane's generation: everything open in it counts as done, and whoever works on it has lost its lease. Makes the
 * lane where there is none. Answers the generation that begins, and the last sequence that is done.
 */
export const startLaneGeneration = async (
  trx: Knex.Transaction,
  clientId: string,
): Promise<{ generation: number; doneSequence: number }> => {
  await trx.raw('INSERT INTO lanes (client_id, generation) VALUES (?, 0) ON CONFLICT DO NOTHING', [clientId]);
  const locked = await trx.raw<{ rows: { done_sequence: number }[] }>(
    'SELECT done_sequence FROM lanes WHERE client_id = ? FOR NO KEY UPDATE',
    [clientId],
  );
  const { rows } = await trx.raw<{ rows: { generation: number }[] }>(
    `UPDATE lanes SET generation = generation + 1, done_sequence = last_sequence, blocked_sequence = NULL, due_at = NULL,
       leased_until = NULL, lease_token = lease_token + 1, pace = 'unknown'
     WHERE client_id = ? RETURNING generation`,
    [clientId],
  );
  const [before, after] = [locked.rows[0], rows[0]];
  if (before === undefined || after === undefined) throw new Error('The lane was removed by somebody else.');
  return { generation: after.generation, doneSequence: before.done_sequence };
};

/** The event that blocks a lane; undefined when none does. */
export const findBlockingEventId = async (database: Knex, clientId: string): Promise<string | undefined> => {
  const { rows } = await database.raw<{ rows: { event_id: string }[] }>(
    `SELECT event_id FROM lanes JOIN events USING (client_id)
     WHERE client_id = ? AND events.sequence = lanes.blocked_sequence`,
    [clientId],
  );
  return rows[0]?.event_id;
};

/** Lifts the block of a locked lane: `done` passes over the event, otherwise it is the next one again. */
export const unblockLane = async (trx: Knex.Transaction, clientId: string, passOver: boolean): Promise<void> => {
  await trx.raw(
    `UPDATE lanes SET
       blocked_sequence = NULL,
       done_sequence = done_sequence + :step::int,
       due_at = CASE WHEN done_sequence + :step::int < last_sequence THEN now() END
     WHERE client_id = :clientId`,
    { step: passOver ? 1 : 0, clientId },
  );
};

const claimable = (pace: Pace, limit: string) =>
  `SELECT client_id, xmin AS locked FROM lanes WHERE pace = '${pace}' AND due_at <= now()
   ORDER BY due_at LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED`;
const CLAIM_DUE_LANES = {
  name: 'claim_due_lanes',
  text: `WITH prompt AS (${claimable('prompt', '$1::int')}), unknown AS (${claimable('unknown', '$2::int')}),
    slow AS (${claimable('slow', '$3::int')}),
    due AS (SELECT * FROM prompt UNION ALL SELECT * FROM unknown UNION ALL SELECT * FROM slow),
    claimed AS (
      UPDATE lanes SET due_at = now() + ${LEASE}, leased_until = now() + ${LEASE}, lease_token = lease_token + 1
      FROM due WHERE lanes.client_id = due.client_id
      RETURNING lanes.client_id, lanes.generation, lanes.done_sequence + 1 AS sequence, lanes.lease_token, lanes.pace, due.locked
    )
    SELECT c.client_id, c.generation, c.sequence, c.lease_token, c.pace,
      e.event_id, e.event, e.attempts, e.attempts_in_round, e.body
    FROM claimed c
    LEFT JOIN lanes seen ON seen.client_id = c.client_id AND seen.xmin = c.locked
    LEFT JOIN events e
      ON e.client_id = seen.client_id AND e.sequence = c.sequence AND e.generation = c.generation AND e.status = 'queued'`,
};

/**
 * Takes due lanes that nobody else is taking, up to a number for each pace. A lease that has run out is due like any other:
 * its holder is gone, or has lost it. Each comes with its next event, unless the lane has changed since the statement began to
 * look: then the event is not as it was seen.
 */
export const claimDueLanes = async (database: Knex, limits: Readonly<Record<Pace, number>>): Promise<Claim[]> => {
  const { prompt, unknown, slow } = limits;
  const rows = await runPrepared<ClaimedRow>(database, CLAIM_DUE_LANES, [prompt, unknown, slow]);
  return rows.map((row) => ({
    lane: {
      clientId: row.client_id,
      generation: row.generation,
      sequence: row.sequence,
      leaseToken: row.lease_token,
      pace: row.pace,
    },
    content: row.event_id === null ? undefined : toContent(row),
  }));
};

interface ClaimedFields {
  client_id: string;
  generation: number;
  sequence: number;
  lease_token: number;
  pace: Pace;
}

/** Outer join: either the whole event is there, or nothing of it. */
type ClaimedRow = ClaimedFields & (ContentRow | { event_id: null });

/** Gives claimed lanes back untouched, due at once for whoever comes next. */
export const releaseLanes = async (database: Knex, lanes: readonly ClaimedLane[]): Promise<void> => {
  await database.raw(
    `UPDATE lanes SET due_at = now(), leased_until = NULL
     FROM unnest(?::text[], ?::bigint[]) AS given (client_id, lease_token)
     WHERE lanes.client_id = given.client_id AND lanes.lease_token = given.lease_token AND lanes.leased_until IS NOT NULL`,
    [sqlColumn(lanes, ({ clientId }) => clientId), sqlColumn(lanes, ({ leaseToken }) => leaseToken)],
  );
};

/** How many apps are blocked, and for how long the lane that is due the longest has been waiting. */
export const findLaneHealth = async (database: Knex): Promise<{ blockedApps: number; oldestDueSeconds: number }> => {
  const due = (pace: Pace) => `(SELECT min(due_at) FROM lanes WHERE pace = '${pace}' AND due_at <= now())`;
  const { rows } = await database.raw<{ rows: { blocked: number; seconds: number }[] }>(
    `SELECT (SELECT count(*)::int FROM lanes WHERE blocked_sequence IS NOT NULL) AS blocked,
       coalesce(extract(epoch FROM now() - least(${due('prompt')}, ${due('unknown')}, ${due('slow')})), 0)::float8 AS seconds`,
  );
  return { blockedApps: rows[0]?.blocked ?? 0, oldestDueSeconds: rows[0]?.seconds ?? 0 };
};

/** How many lanes are due, counted no further than a bound. */
export const countDueLanes = async (database: Knex, countedMax: number): Promise<number> => {
  const due = (pace: Pace) => `SELECT 1 FROM lanes WHERE pace = '${pace}' AND due_at <= now()`;
  const { rows } = await database.raw<{ rows: { total: number }[] }>(
    `SELECT count(*)::int AS total FROM (
       ${due('prompt')} UNION ALL ${due('unknown')} UNION ALL ${due('slow')} LIMIT ?
     ) AS due`,
    [countedMax],
  );
  return rows[0]?.total ?? 0;
};

/** Apps whose events wait behind a failed one, after an app. */
export const listBlockedLanes = async (
  database: Knex,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<{ client_id: string; event_id: string; sequence: number }[]> => {
  const { rows } = await database.raw<{ rows: { client_id: string; event_id: string; sequence: number }[] }>(
    `SELECT client_id, event_id, blocked_sequence AS sequence FROM lanes JOIN events USING (client_id)
     WHERE blocked_sequence IS NOT NULL AND events.sequence = blocked_sequence AND client_id > ?
     ORDER BY client_id LIMIT ?`,
    [after, limit],
  );
  return rows;
};

/** Removes a lane; whoever works on it has lost its lease. */
export const deleteLane = async (trx: Knex.Transaction, clientId: string): Promise<void> => {
  await trx('lanes').where({ client_id: clientId }).delete();
};
