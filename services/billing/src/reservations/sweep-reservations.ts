import { listOverdueKeyRequests } from '../leases/index.ts';
import { applyKeyOutcomes, applyOutcomes, type SettlementDeps } from './settle-requests.ts';
import { countOpen, listOverdueReserved, listOverdueUncertain, type SettlementInput } from './settlement-queries.ts';

export interface SweepSettings {
  readonly uncertainAfterSeconds: number;
  readonly settleAfterSeconds: number;
}

const BATCH = 200;
/** Batches per sweep, so that it ends. Remaining reservations wait for the next sweep. */
const BATCHES_MAX = 50;

/**
 * Marks overdue reservations uncertain, and settles overdue uncertain requests at their estimate. Safe to run on several
 * replicas at once: each request changes only once.
 */
export const sweepReservations = async (deps: SettlementDeps, settings: SweepSettings): Promise<void> => {
  const { database } = deps;
  const { uncertainAfterSeconds, settleAfterSeconds } = settings;
  await inBatches(
    () => listOverdueReserved(database, uncertainAfterSeconds, BATCH),
    async (requestIds) => {
      const results = await applyOutcomes(deps, outcomesOf(requestIds, 'uncertain'), 'sweep');
      const count = results.filter(({ effect }) => effect === 'uncertain').length;
      if (count > 0) deps.logger.warn({ count }, 'reservations without an outcome have become uncertain');
    },
  );
  await inBatches(
    () => listOverdueUncertain(database, settleAfterSeconds, BATCH),
    async (requestIds) => noteEstimated(deps, await applyOutcomes(deps, outcomesOf(requestIds, 'estimate'), 'sweep')),
  );
  await inBatches(
    () => listOverdueKeyRequests(database, settleAfterSeconds, BATCH),
    async (requests) => {
      const outcomes = requests.map((request) => ({ ...request, outcome: 'estimate' as const, cost_micros: 0 }));
      noteEstimated(deps, await applyKeyOutcomes(deps, outcomes, 'sweep'));
    },
  );
  deps.meters.open(await countOpen(database));
};

const noteEstimated = (
  { meters, logger }: SettlementDeps,
  results: readonly { readonly requestId: string; readonly effect: string }[],
): void => {
  const settled = results.filter(({ effect }) => effect === 'settled');
  meters.settledAtEstimate(settled.length);
  for (const { requestId } of settled) {
    logger.error({ request_id: requestId }, 'the usage of a request never arrived; it is settled at its estimate');
  }
};

const outcomesOf = (requestIds: readonly string[], outcome: 'uncertain' | 'estimate'): SettlementInput[] =>
  requestIds.map((requestId) => ({ requestId, outcome, costMicros: null }));

const inBatches = async <T>(list: () => Promise<T[]>, handle: (items: T[]) => Promise<void>): Promise<void> => {
  for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
    const items = await list();
    if (items.length > 0) await handle(items);
    if (items.length < BATCH) return;
  }
};
