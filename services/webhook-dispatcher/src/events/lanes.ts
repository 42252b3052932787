import { recordColumns, runPrepared } from '@svc/database';
import type { Knex } from 'knex';
import { contentColumns, type EventContent, type JoinedContent, splitContent } from './event.ts';

/**
 * Speed of a lane's receiver at its last attempt: soon (prompt), late or not at all (slow). Unknown in a new generation, and
 * after the first late answer of a prompt receiver. Lanes of each pace have slots of their own in a worker, so receivers that
 * hang do not delay the others.
 */
export type Pace = 'prompt' | 'unknown' | 'slow';

/** A lane that this process may work on until its lease ends. */
export interface ClaimedLane {
  readonly ownerId: string;
  readonly generation: number;
  readonly sequence: number;
  readonly leaseToken: number;
  readonly pace: Pace;
  /** Grows with each rotation of the signing secret. */
  readonly secretVersion: number;
}

export interface Claim {
  readonly lane: ClaimedLane;
  /** The lane's next event, unless it was stored too recently for the claim to see it. */
  readonly content: EventContent | undefined;
}

/** Longer than an attempt (10 s) with its write-back. Another worker takes over the lanes of a dead one after it. */
export const LEASE_MS = 15_000;
/**
 * Age up to which a lease is not renewed when its lane goes on: an unchanged `due_at` leaves the index alone, which saves an
 * index entry for each delivery.
 */
export const LEASE_RENEWED_AFTER_MS = 1_000;

export const LEASE = `interval '${LEASE_MS} milliseconds'`;

export interface LaneHead {
  readonly ownerId: string;
  readonly generation: number;
  readonly lastSequence: number;
  /** Events that are not done. */
  readonly waiting: number;
  readonly leaseToken: number;
  readonly pace: Pace;
  readonly secretVersion: number;
  /** It has nothing to deliver, and no worker holds it. */
  readonly isIdle: boolean;
  /** Its webhook was deleted: it takes no events. */
  readonly isOff: boolean;
}

const headColumns = recordColumns<LaneHead>({
  ownerId: 'owner_id text',
  generation: 'generation integer',
  lastSequence: 'last_sequence bigint',
  waiting: 'waiting bigint',
  leaseToken: 'lease_token bigint',
  pace: 'pace text',
  secretVersion: 'secret_version integer',
  isIdle: 'is_idle boolean',
  isOff: 'is_off boolean',
});
const LOCK_LANES = {
  name: 'lock_lanes',
  text: `SELECT ${headColumns.select('l')} FROM (
      SELECT *, last_sequence - done_sequence AS waiting,
        due_at IS NULL AND blocked_sequence IS NULL AND done_sequence = last_sequence AS is_idle
      FROM lanes WHERE owner_id = ANY($1) ORDER BY owner_id FOR NO KEY UPDATE
    ) l`,
};

/** Locks the lanes of these owners in one order, so that transactions which lock several cannot deadlock. */
export const lockLanes = async (trx: Knex.Transaction, ownerIds: readonly string[]): Promise<LaneHead[]> =>
  await runPrepared<LaneHead>(trx, LOCK_LANES, [ownerIds]);

/**
 * Ends the lane's current generation, if there is one, and returns the number of the next. Everything open counts as done and
 * cancelled. The lease is void, so the outcome of an attempt in flight changes nothing.
 */
export const beginGeneration = async (trx: Knex.Transaction, ownerId: string): Promise<number> => {
  await trx.raw('INSERT INTO lanes (owner_id, generation) VALUES (?, 0) ON CONFLICT DO NOTHING', [ownerId]);
  const { rows } = await trx.raw<{ rows: { generation: number }[] }>(
    `UPDATE lanes SET generation = generation + 1, done_sequence = last_sequence, blocked_sequence = NULL, due_at = NULL,
       leased_until = NULL, lease_token = lease_token + 1, pace = 'unknown', paused_at = NULL, is_off = false
     WHERE owner_id = ? RETURNING generation`,
    [ownerId],
  );
  const [started] = rows;
  if (started === undefined) throw new Error('The lane was deleted by another transaction.');
  return started.generation;
};

/** Turns a lane off, which cancels everything open, until a generation begins. */
export const turnLaneOff = async (trx: Knex.Transaction, ownerId: string): Promise<void> => {
  const { length } = await lockLanes(trx, [ownerId]);
  if (length === 0) return;
  await beginGeneration(trx, ownerId);
  await trx('lanes').where({ owner_id: ownerId }).update({ is_off: true });
};

/** Locks a lane and raises the version of its signing secret. Returns false if there is no such lane. */
export const raiseSecretVersion = async (trx: Knex.Transaction, ownerId: string): Promise<boolean> =>
  (await trx('lanes').where({ owner_id: ownerId }).increment('secret_version', 1)) > 0;

/** Makes the next event of a locked lane due at once, unless a worker holds the lane. Returns false if it is blocked. */
export const hastenLane = async (trx: Knex.Transaction, ownerId: string): Promise<boolean> => {
  const { rows } = await trx.raw<{ rows: { is_blocked: boolean }[] }>(
    `UPDATE lanes SET due_at = CASE
         WHEN blocked_sequence IS NULL AND done_sequence < last_sequence AND coalesce(leased_until <= now(), true)
         THEN now() ELSE due_at END,
       leased_until = CASE WHEN leased_until > now() THEN leased_until END
     WHERE owner_id = ? RETURNING blocked_sequence IS NOT NULL AS is_blocked`,
    [ownerId],
  );
  return rows[0]?.is_blocked === false;
};

/** Returns the generation of a webhook; undefined if it has none. */
export const findGeneration = async (database: Knex, ownerId: string): Promise<number | undefined> => {
  const lane = await database<{ owner_id: string; is_off: boolean; generation: number }>('lanes')
    .where({ owner_id: ownerId, is_off: false })
    .first('generation');
  return lane?.generation;
};

/** The failed event behind which a lane waits. */
export interface LaneBlock {
  readonly eventId: string;
  readonly pausedAt: Date | null;
}

export const findLaneBlock = async (database: Knex, ownerId: string): Promise<LaneBlock | undefined> => {
  const { rows } = await database.raw<{ rows: LaneBlock[] }>(
    `SELECT event_id AS "eventId", paused_at AS "pausedAt" FROM lanes JOIN events USING (owner_id)
     WHERE owner_id = ? AND events.sequence = lanes.blocked_sequence`,
    [ownerId],
  );
  return rows[0];
};

/** Lifts the block of a locked lane: `skip` passes over the event, `retry` makes it the next one again. */
export const unblockLane = async (trx: Knex.Transaction, ownerId: string, action: 'retry' | 'skip'): Promise<void> => {
  await trx.raw(
    `UPDATE lanes SET
       blocked_sequence = NULL,
       paused_at = NULL,
       done_sequence = done_sequence + :step::int,
       due_at = CASE WHEN done_sequence + :step::int < last_sequence THEN now() END
     WHERE owner_id = :ownerId`,
    { step: action === 'skip' ? 1 : 0, ownerId },
  );
};

const leaseColumns = recordColumns<Pick<ClaimedLane, 'ownerId' | 'leaseToken'>>({
  ownerId: 'owner_id text',
  leaseToken: 'lease_token bigint',
});
const RELEASE_LANES = {
  name: 'release_lanes',
  text: `UPDATE lanes SET due_at = now(), leased_until = NULL FROM ${leaseColumns.unnest('given')}
    WHERE lanes.owner_id = given.owner_id AND lanes.lease_token = given.lease_token AND lanes.leased_until IS NOT NULL`,
};

/** Gives claimed lanes back unchanged, due at once. */
export const releaseLanes = async (database: Knex, lanes: readonly ClaimedLane[]): Promise<void> => {
  await runPrepared(database, RELEASE_LANES, leaseColumns.arrays(lanes));
};

/** Deletes a lane; its lease is void. */
export const deleteLane = async (trx: Knex.Transaction, ownerId: string): Promise<void> => {
  await trx('lanes').where({ owner_id: ownerId }).delete();
};

const laneColumns = recordColumns<ClaimedLane>({
  ownerId: 'owner_id text',
  generation: 'generation integer',
  sequence: 'sequence bigint',
  leaseToken: 'lease_token bigint',
  pace: 'pace text',
  secretVersion: 'secret_version integer',
});

const claimable = (pace: Pace, limit: string) =>
  `SELECT owner_id, xmin AS locked FROM lanes WHERE pace = '${pace}' AND due_at <= now()
   ORDER BY due_at LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED`;
const CLAIM_DUE_LANES = {
  name: 'claim_due_lanes',
  text: `WITH prompt AS (${claimable('prompt', '$1::int')}), unknown AS (${claimable('unknown', '$2::int')}),
    slow AS (${claimable('slow', '$3::int')}),
    due AS (SELECT * FROM prompt UNION ALL SELECT * FROM unknown UNION ALL SELECT * FROM slow),
    claimed AS (
      UPDATE lanes SET due_at = now() + ${LEASE}, leased_until = now() + ${LEASE}, lease_token = lease_token + 1
      FROM due WHERE lanes.owner_id = due.owner_id
      RETURNING lanes.owner_id, lanes.generation, lanes.done_sequence + 1 AS sequence, lanes.lease_token, lanes.pace,
        lanes.secret_version, due.locked
    )
    SELECT ${laneColumns.select('c')}, ${contentColumns.select('e')}
    FROM claimed c
    LEFT JOIN lanes seen ON seen.owner_id = c.owner_id AND seen.xmin = c.locked
    LEFT JOIN events e
      ON e.owner_id = seen.owner_id AND e.sequence = c.sequence AND e.generation = c.generation AND e.status = 'queued'`,
};

/**
 * Claims due lanes that no other worker is claiming, up to a number for each pace. An expired lease is due like any other: its
 * holder is dead or has lost it. Each lane comes with its next event, unless the lane has changed since the statement began and
 * the event may differ from the one seen.
 */
export const claimDueLanes = async (database: Knex, limits: Readonly<Record<Pace, number>>): Promise<Claim[]> => {
  const { prompt, unknown, slow } = limits;
  const rows = await runPrepared<ClaimedLane & JoinedContent>(database, CLAIM_DUE_LANES, [prompt, unknown, slow]);
  return rows.map((row) => {
    const { rest: lane, content } = splitContent(row);
    return { lane, content };
  });
};
