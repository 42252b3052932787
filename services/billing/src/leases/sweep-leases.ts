import { LEASE_SILENCE_SECONDS } from '@svc/contracts';
import type { Logger } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { LeaseMeters } from './meters.ts';
import { deleteOldIdempotencyKeys, endSilentLeases, settleLostLeases } from './queries.ts';

export interface LeaseSweepDeps {
  readonly database: Knex;
  readonly currency: string;
  readonly leaseMeters: LeaseMeters;
  readonly logger: Logger;
}

const BATCH = 200;
/** Batches per sweep, so that it ends. The rest waits for the next sweep. */
const BATCHES_MAX = 50;
const IDEMPOTENCY_SECONDS = 48 * 3600;

/**
 * Ends leases whose holders have fallen silent, and returns their number. A process that has just started, or a restored
 * database, passes 0 seconds to end all.
 */
export const endSilent = async (
  deps: LeaseSweepDeps,
  silentSeconds: number = LEASE_SILENCE_SECONDS,
): Promise<number> => {
  const count = await inBatches(() => endSilentLeases(deps.database, { silentSeconds, limit: BATCH }));
  deps.leaseMeters.lost(count);
  if (count > 0) deps.logger.warn({ count }, 'leases of silent gateway processes have ended');
  return count;
};

/**
 * Charges lost leases whose outcomes never arrived, and deletes old idempotency keys. Safe to run on several replicas at once.
 */
export const sweepLeases = async (
  deps: LeaseSweepDeps & { readonly meters: { readonly settledAtEstimate: (count: number) => void } },
  { settleAfterSeconds }: { readonly settleAfterSeconds: number },
): Promise<void> => {
  const { database, currency } = deps;
  const lost = { currency, ageSeconds: settleAfterSeconds, limit: BATCH };
  const charged = await settleLostLeases(database, lost);
  deps.meters.settledAtEstimate(charged.length);
  for (const { leaseId, estimatedMicros } of charged) {
    const fields = { lease_id: leaseId, amount_micros: estimatedMicros };
    deps.logger.error(fields, 'outcomes of a lost lease never arrived; it is charged at its last report');
  }
  await inBatches(() => deleteOldIdempotencyKeys(database, { ageSeconds: IDEMPOTENCY_SECONDS, limit: BATCH }));
};

const inBatches = async (run: () => Promise<number>): Promise<number> => {
  let total = 0;
  for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
    const count = await run();
    total += count;
    if (count < BATCH) break;
  }
  return total;
};
