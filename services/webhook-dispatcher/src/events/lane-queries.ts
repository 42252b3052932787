import { recordColumns, runPrepared } from '@svc/database';
import type { Knex } from 'knex';
import { contentColumns, type JoinedContent, splitContent } from './event.ts';
import { type Claim, type ClaimedLane, LEASE, type Pace } from './lane.ts';

export interface LaneHead {
  readonly clientId: string;
  readonly generation: number;
  readonly lastSequence: number;
  /** Events that are not done. */
  readonly waiting: number;
  readonly leaseToken: number;
  readonly pace: Pace;
  readonly secretVersion: number;
  /** It has nothing to deliver, and no worker holds it. */
  readonly isIdle: boolean;
}

const headColumns = recordColumns<LaneHead>({
  clientId: 'client_id text',
  generation: 'generation integer',
  lastSequence: 'last_sequence bigint',
  waiting: 'waiting bigint',
  leaseToken: 'lease_token bigint',
  pace: 'pace text',
  secretVersion: 'secret_version integer',
  isIdle: 'is_idle boolean',
});
const LOCK_LANES = {
  name: 'lock_lanes',
  text: `SELECT ${headColumns.select('l')} FROM (
      SELECT *, last_sequence - done_sequence AS waiting,
        due_at IS NULL AND blocked_sequence IS NULL AND done_sequence = last_sequence AS is_idle
      FROM lanes WHERE client_id = ANY($1) ORDER BY client_id FOR NO KEY UPDATE
    ) l`,
};

/** Locks the lanes of these apps in one order, so that transactions which lock several cannot deadlock. */
export const lockLanes = async (trx: Knex.Transaction, clientIds: readonly string[]): Promise<LaneHead[]> =>
  await runPrepared<LaneHead>(trx, LOCK_LANES, [clientIds]);

export interface StartedGeneration {
  readonly generation: number;
  /** The last sequence that was done before. */
  readonly doneSequence: number;
}

/** Starts a generation: everything open counts as done, and the lease is void. Creates the lane if there is none. */
export const startLaneGeneration = async (trx: Knex.Transaction, clientId: string): Promise<StartedGeneration> => {
  await trx.raw('INSERT INTO lanes (client_id, generation) VALUES (?, 0) ON CONFLICT DO NOTHING', [clientId]);
  const { rows } = await trx.raw<{ rows: StartedGeneration[] }>(
    `UPDATE lanes SET generation = generation + 1, done_sequence = last_sequence, blocked_sequence = NULL, due_at = NULL,
       leased_until = NULL, lease_token = lease_token + 1, pace = 'unknown'
     WHERE client_id = ? RETURNING generation, old.done_sequence AS "doneSequence"`,
    [clientId],
  );
  const [started] = rows;
  if (started === undefined) throw new Error('The lane was deleted by another transaction.');
  return started;
};

/** Locks a lane and raises the version of its signing secret. Returns false if there is no such lane. */
export const raiseSecretVersion = async (trx: Knex.Transaction, clientId: string): Promise<boolean> =>
  (await trx('lanes').where({ client_id: clientId }).increment('secret_version', 1)) > 0;

/** Makes the next event of a locked lane due at once, unless a worker holds the lane. Returns false if it is blocked. */
export const hastenLane = async (trx: Knex.Transaction, clientId: string): Promise<boolean> => {
  const { rows } = await trx.raw<{ rows: { is_blocked: boolean }[] }>(
    `UPDATE lanes SET due_at = CASE
         WHEN blocked_sequence IS NULL AND done_sequence < last_sequence AND coalesce(leased_until <= now(), true)
         THEN now() ELSE due_at END,
       leased_until = CASE WHEN leased_until > now() THEN leased_until END
     WHERE client_id = ? RETURNING blocked_sequence IS NOT NULL AS is_blocked`,
    [clientId],
  );
  return rows[0]?.is_blocked === false;
};

/** Returns the generation of an app's webhook; undefined if it has none. */
export const findGeneration = async (database: Knex, clientId: string): Promise<number | undefined> => {
  const lane = await database<{ client_id: string; generation: number }>('lanes')
    .where({ client_id: clientId })
    .first('generation');
  return lane?.generation;
};

export const findBlockingEventId = async (database: Knex, clientId: string): Promise<string | undefined> => {
  const { rows } = await database.raw<{ rows: { event_id: string }[] }>(
    `SELECT event_id FROM lanes JOIN events USING (client_id)
     WHERE client_id = ? AND events.sequence = lanes.blocked_sequence`,
    [clientId],
  );
  return rows[0]?.event_id;
};

/** Lifts the block of a locked lane: `skip` passes over the event, `retry` makes it the next one again. */
export const unblockLane = async (trx: Knex.Transaction, clientId: string, action: 'retry' | 'skip'): Promise<void> => {
  await trx.raw(
    `UPDATE lanes SET
       blocked_sequence = NULL,
       done_sequence = done_sequence + :step::int,
       due_at = CASE WHEN done_sequence + :step::int < last_sequence THEN now() END
     WHERE client_id = :clientId`,
    { step: action === 'skip' ? 1 : 0, clientId },
  );
};

const leaseColumns = recordColumns<Pick<ClaimedLane, 'clientId' | 'leaseToken'>>({
  clientId: 'client_id text',
  leaseToken: 'lease_token bigint',
});
const RELEASE_LANES = {
  name: 'release_lanes',
  text: `UPDATE lanes SET due_at = now(), leased_until = NULL FROM ${leaseColumns.unnest('given')}
    WHERE lanes.client_id = given.client_id AND lanes.lease_token = given.lease_token AND lanes.leased_until IS NOT NULL`,
};

/** Gives claimed lanes back unchanged, due at once. */
export const releaseLanes = async (database: Knex, lanes: readonly ClaimedLane[]): Promise<void> => {
  await runPrepared(database, RELEASE_LANES, leaseColumns.arrays(lanes));
};

/** Deletes a lane; its lease is void. */
export const deleteLane = async (trx: Knex.Transaction, clientId: string): Promise<void> => {
  await trx('lanes').where({ client_id: clientId }).delete();
};

const laneColumns = recordColumns<ClaimedLane>({
  clientId: 'client_id text',
  generation: 'generation integer',
  sequence: 'sequence bigint',
  leaseToken: 'lease_token bigint',
  pace: 'pace text',
  secretVersion: 'secret_version integer',
});

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
      RETURNING lanes.client_id, lanes.generation, lanes.done_sequence + 1 AS sequence, lanes.lease_token, lanes.pace,
        lanes.secret_version, due.locked
    )
    SELECT ${laneColumns.select('c')}, ${contentColumns.select('e')}
    FROM claimed c
    LEFT JOIN lanes seen ON seen.client_id = c.client_id AND seen.xmin = c.locked
    LEFT JOIN events e
      ON e.client_id = seen.client_id AND e.sequence = c.sequence AND e.generation = c.generation AND e.status = 'queued'`,
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
