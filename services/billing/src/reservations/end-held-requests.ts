import { HOLDER_LEASE_SECONDS } from '@svc/contracts';
import { type HeldRequest, listHeld, listReservedUntil, shrinkHolds } from './held-queries.ts';
import { applyOutcomes, type SettlementDeps } from './settle-requests.ts';

/** Requests per round. */
export const HELD_BATCH = 200;

/**
 * Marks reserved requests of dead holders uncertain, oldest first. Frees their places, and reduces their holds to the
 * cost so far. Skips requests younger than a lease, because their holder was alive recently. Returns the number of
 * requests of each kind, `HELD_BATCH` in total at most.
 */
export const endHeldRequests = async (
  deps: SettlementDeps,
  holderIds: readonly string[],
): Promise<{ readonly delegated: number; readonly api_key: number }> => {
  const limits = { holderIds, ageSeconds: HOLDER_LEASE_SECONDS, limit: HELD_BATCH };
  const requests = await listHeld(deps.database, limits);
  await makeUncertain(deps, requests);
  const delegated = requests.filter(({ kind }) => kind === 'delegated').length;
  return { delegated, api_key: requests.length - delegated };
};

/**
 * Marks the reserved requests of a restored database uncertain. Their outcomes may have been reported after the restored
 * moment, and a gateway that lives on reports none twice. One that still runs is settled by its usage.
 */
export const endRestoredRequests = async (deps: SettlementDeps, restoredTo: Date): Promise<void> => {
  for (;;) {
    const requests = await listReservedUntil(deps.database, restoredTo, HELD_BATCH);
    await makeUncertain(deps, requests);
    if (requests.length < HELD_BATCH) return;
  }
};

const makeUncertain = async (deps: SettlementDeps, requests: readonly HeldRequest[]): Promise<void> => {
  const reported = requests.flatMap(({ requestId, reportedMicros }) =>
    reportedMicros === null ? [] : [{ requestId, estimateMicros: reportedMicros }],
  );
  // Runs in its own transaction, because the settlement must lock all its reservations before any wallet.
  await shrinkHolds(deps.database, reported);
  const outcomes = requests.map(({ requestId }) => ({ requestId, outcome: 'uncertain' as const, costMicros: null }));
  if (outcomes.length > 0) await applyOutcomes(deps, outcomes, 'sweep');
};
