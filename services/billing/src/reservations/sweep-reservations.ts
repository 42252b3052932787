import { applyOutcomes, type SettlementDeps } from './settle-requests.ts';
import { countOpen, listOverdueReserved, listOverdueUncertain, type SettlementInput } from './settlement-queries.ts';

export interface SweepSettings {
  readonly uncertainAfterSeconds: number;
  readonly settleAfterSeconds: number;
}

const BATCH = 200;
/** Batches per sweep, so that it ends. Remaining reservations wait for the next sweep. */
const BATCHES_MAX = 50;

/**
 * Marks overdue reservations uncertain, and settles overdue uncertain ones at their estimate. Safe to run on several
 * replicas at once: each reservation changes only once.
 */
export const sweepReservations = async (deps: SettlementDeps, settings: SweepSettings): Promise<void> => {
  const { database } = deps;
  await inBatches(
    () => listOverdueReserved(database, settings.uncertainAfterSeconds, BATCH),
    async (requestIds) => {
      const results = await applyOutcomes(deps, outcomesOf(requestIds, 'uncertain'), 'sweep');
      const count = results.filter(({ effect }) => effect === 'uncertain').length;
      if (count > 0) deps.logger.warn({ count }, 'reservations without an outcome have become uncertain');
    },
  );
  await inBatches(
    () => listOverdueUncertain(database, settings.settleAfterSeconds, BATCH),
    async (requestIds) => {
      const results = await applyOutcomes(deps, outcomesOf(requestIds, 'estimate'), 'sweep');
      const settled = results.filter(({ effect }) => effect === 'settled');
      deps.meters.settledAtEstimate(settled.length);
      for (const { requestId } of settled) {
        deps.logger.error(
          { request_id: requestId },
          'the usage of a request never arrived; it is settled at its estimate',
        );
      }
    },
  );
  deps.meters.open(await countOpen(database));
};

const outcomesOf = (requestIds: readonly string[], outcome: 'uncertain' | 'estimate'): SettlementInput[] =>
  requestIds.map((requestId) => ({ requestId, outcome, costMicros: null }));

const inBatches = async (list: () => Promise<string[]>, handle: (ids: string[]) => Promise<void>): Promise<void> => {
  for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
    const ids = await list();
    if (ids.length > 0) await handle(ids);
    if (ids.length < BATCH) return;
  }
};
