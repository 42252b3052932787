import { HOLDER_LEASE_SECONDS } from '@svc/contracts';
import { listHeld, listReservedUntil } from './held-queries.ts';
import { applyOutcomes, type SettlementDeps } from './settle-requests.ts';

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
