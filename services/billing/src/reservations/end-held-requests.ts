import { HOLDER_LEASE_SECONDS } from '@svc/contracts';
import { listHeld, shrinkHolds } from './held-queries.ts';
import { applyOutcomes, type SettlementDeps } from './settle-requests.ts';

/** Requests that one round ends. */
export const HELD_BATCH = 200;

/**
 * Makes reserved requests of dead holders uncertain, oldest first: their places are free, and of a hold stays what the request has
 * cost so far. A request younger than a lease proves that its holder was alive a moment ago, so it waits. Returns the number of
 * requests of each kind, `HELD_BATCH` at most.
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
  // Committed by itself: the settlement locks all of its reservations before the first wallet.
  await shrinkHolds(database, reported);
  const outcomes = requests.map(({ requestId }) => ({ requestId, outcome: 'uncertain' as const, costMicros: null }));
  if (outcomes.length > 0) await applyOutcomes(deps, outcomes, 'sweep');
  const delegated = requests.filter(({ kind }) => kind === 'delegated').length;
  return { delegated, api_key: requests.length - delegated };
};
