import { HOLDER_LEASE_SECONDS } from '@svc/contracts';
import { runPrepared } from '@svc/database';
import type { Knex } from 'knex';
import { applyOutcomes, type SettlementDeps } from './settle-requests.ts';

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

/** Lists the ids of the holders' reserved requests that are older than `ageSeconds`, oldest first. */
const listHeld = async (
  database: Knex,
  { holderIds, ageSeconds, limit }: { holderIds: readonly string[]; ageSeconds: number; limit: number },
): Promise<string[]> =>
  await selectReserved(database, limit)
    .whereIn('holder_id', holderIds)
    .whereRaw('created_at < (SELECT billing_now()) - make_interval(secs => ?)', [ageSeconds]);

/** Lists the ids of reserved requests that were admitted until a moment, oldest first. */
const listReservedUntil = async (database: Knex, until: Date, limit: number): Promise<string[]> =>
  await selectReserved(database, limit).where('created_at', '<=', until);

const selectReserved = (database: Knex, limit: number) =>
  database('reservations').where({ state: 'reserved' }).orderBy('created_at').limit(limit).pluck('request_id');

/** Requests per round. */
export const HELD_BATCH = 200;

/**
 * Marks reserved requests of dead holders uncertain, oldest first, which frees their places. Skips requests younger than a
 * lease, because their holder was alive recently. Returns the number of requests, at most `HELD_BATCH`.
 */
export const endHeldRequests = async (deps: SettlementDeps, holderIds: readonly string[]): Promise<number> => {
  const limits = { holderIds, ageSeconds: HOLDER_LEASE_SECONDS, limit: HELD_BATCH };
  const requestIds = await listHeld(deps.database, limits);
  await makeUncertain(deps, requestIds);
  return requestIds.length;
};

/**
 * Marks the reserved requests of a restored database uncertain. Their outcomes may have been reported after the restored
 * moment, and a gateway that lives on reports none twice. One that still runs is settled by its usage.
 */
export const endRestoredRequests = async (deps: SettlementDeps, restoredTo: Date): Promise<void> => {
  for (;;) {
    const requestIds = await listReservedUntil(deps.database, restoredTo, HELD_BATCH);
    await makeUncertain(deps, requestIds);
    if (requestIds.length < HELD_BATCH) return;
  }
};

const makeUncertain = async (deps: SettlementDeps, requestIds: readonly string[]): Promise<void> => {
  const outcomes = requestIds.map((requestId) => ({ requestId, outcome: 'uncertain' as const, costMicros: null }));
  if (outcomes.length > 0) await applyOutcomes(deps, outcomes, 'sweep');
};
