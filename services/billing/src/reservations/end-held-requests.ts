import { HOLDER_LEASE_SECONDS } from '@svc/contracts';
import { listHeld, shrinkHolds } from './held-queries.ts';
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
  const { database } = deps;
  const requests = await listHeld(database, { holderIds, ageSeconds: HOLDER_LEASE_SECONDS, limit: HELD_BATCH });
  const reported = requests.flatMap(({ requestId, reportedMicros }) =>
    reportedMicros === null ? [] : [{ requestId, estimateMicros: reportedMicros }],
  );
  // Runs in its own transaction, because the settlement must lock all its reservations before any wallet.
  await shrinkHolds(database, reported);
  const outcomes = requests.map(({ requestId }) => ({ requestId, outcome: 'uncertain' as const, costMicros: null }));
  if (outcomes.length > 0) await applyOutcomes(deps, outcomes, 'sweep');
  const delegated = requests.filter(({ kind }) => kind === 'delegated').length;
  return { delegated, api_key: requests.length - delegated };
};
