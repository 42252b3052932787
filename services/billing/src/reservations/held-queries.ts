import { recordColumns, runPrepared } from '@svc/database';
import type { Knex } from 'knex';

/** Cost so far of an API-key request. */
export interface RequestEstimate {
  readonly requestId: string;
  readonly estimateMicros: number;
}

export interface HeldRequest {
  readonly requestId: string;
  readonly kind: 'delegated' | 'api_key';
  /** Cost so far; null if the holder has reported none. */
  readonly reportedMicros: number | null;
}

const heldColumns = recordColumns<HeldRequest>({
  requestId: 'request_id text',
  kind: 'kind text',
  reportedMicros: 'reported_micros bigint',
});

/** Skips from holder to holder in the index of reserved requests, so the cost does not grow with their number. */
const LIST_HOLDERS = {
  name: 'list_holders',
  text: `
    WITH RECURSIVE held (holder_id) AS (
      SELECT min(holder_id) FROM reservations WHERE state = 'reserved' AND holder_id IS NOT NULL
      UNION ALL
      SELECT (SELECT min(r.holder_id) FROM reservations AS r WHERE r.state = 'reserved' AND r.holder_id > held.holder_id)
      FROM held WHERE held.holder_id IS NOT NULL)
    SELECT holder_id FROM held WHERE holder_id IS NOT NULL`,
};

/** Lists the holders of reserved requests. */
export const listHolders = async (database: Knex): Promise<string[]> => {
  const rows = await runPrepared<{ holder_id: string }>(database, LIST_HOLDERS, []);
  return rows.map(({ holder_id }) => holder_id);
};

/** Lists reserved requests of the holders that are older than `ageSeconds`, oldest first. */
export const listHeld = async (
  database: Knex,
  { holderIds, ageSeconds, limit }: { holderIds: readonly string[]; ageSeconds: number; limit: number },
): Promise<HeldRequest[]> =>
  await selectReserved(database, limit)
    .whereIn('holder_id', holderIds)
    .whereRaw('created_at < (SELECT billing_now()) - make_interval(secs => ?)', [ageSeconds]);

/** Lists reserved requests that were admitted until a moment, oldest first. */
export const listReservedUntil = async (database: Knex, until: Date, limit: number): Promise<HeldRequest[]> =>
  await selectReserved(database, limit).where('created_at', '<=', until);

const selectReserved = (database: Knex, limit: number) =>
  database('reservations')
    .select<HeldRequest[]>(database.raw(heldColumns.select('reservations')))
    .where({ state: 'reserved' })
    .orderBy('created_at')
    .limit(limit);

/** Skips locked rows: a request that is being settled needs no estimate. */
const NOTE_ESTIMATES = {
  name: 'note_estimates',
  text: `
    WITH reported AS (
      SELECT r.request_id, t.estimate FROM unnest($2::text[], $3::bigint[]) AS t (request_id, estimate)
        JOIN reservations AS r ON r.request_id = t.request_id
      WHERE r.kind = 'api_key' AND r.state = 'reserved' AND r.holder_id = $1
      FOR NO KEY UPDATE OF r SKIP LOCKED)
    UPDATE reservations AS r SET reported_micros = reported.estimate FROM reported WHERE r.request_id = reported.request_id`,
};

/** Stores the cost so far of a holder's reserved API-key requests. Skips all other requests. */
export const noteEstimates = async (
  database: Knex,
  holderId: string,
  estimates: readonly RequestEstimate[],
): Promise<void> => {
  await runPrepared(database, NOTE_ESTIMATES, [holderId, ...columnsOf(estimates)]);
};

const SHRINK_HOLDS = { name: 'shrink_holds', text: 'SELECT shrink_holds($1, $2)' };

/** Reduces the holds of reserved API-key requests to lower estimates, and releases the rest. */
export const shrinkHolds = async (database: Knex, estimates: readonly RequestEstimate[]): Promise<void> => {
  if (estimates.length > 0) await runPrepared(database, SHRINK_HOLDS, columnsOf(estimates));
};

const columnsOf = (estimates: readonly RequestEstimate[]) => [
  estimates.map(({ requestId }) => requestId),
  estimates.map(({ estimateMicros }) => estimateMicros),
];
