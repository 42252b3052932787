import { recordColumns, runPrepared } from '@svc/database';
import type { Knex } from 'knex';
import { contentColumns, type JoinedContent, splitContent } from './event.ts';
import { type Claim, type ClaimedLane, LEASE, type Pace } from './lane.ts';

const laneColumns = recordColumns<ClaimedLane>({
  clientId: 'client_id text',
  generation: 'generation integer',
  sequence: 'sequence bigint',
  leaseToken: 'lease_token bigint',
  pace: 'pace text',
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
      RETURNING lanes.client_id, lanes.generation, lanes.done_sequence + 1 AS sequence, lanes.lease_token, lanes.pace, due.locked
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
