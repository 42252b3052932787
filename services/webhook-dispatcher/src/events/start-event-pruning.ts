import { type Clock, type Logger, type PeriodicWork, runPeriodically } from '@svc/service-kit';
import type { Knex } from 'knex';
import { deleteOldEvents, listLanesToPrune } from './deletion-queries.ts';
import { giveUpOldEvents, pauseBlockedLanes } from './pause-queries.ts';

export interface PruningDeps {
  readonly database: Knex;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly retentionDays: number;
}

const INTERVAL_MS = 3_600_000;
const LANES_PER_PAGE = 500;
const BATCH = 1_000;
const DAY_MS = 86_400_000;
/** Days after which a paused lane gives an event up. */
const WAITING_DAYS_MAX = 90;

/**
 * Deletes old events that are delivered, skipped or cancelled, pauses lanes that have been blocked for long, and gives up their
 * oldest events: now and every hour. Replicas may do so at the same time.
 */
export const startEventPruning = (deps: PruningDeps): PeriodicWork =>
  runPeriodically({
    name: 'event pruning',
    intervalMs: INTERVAL_MS,
    run: async (signal) => {
      await endAbandoned(deps, signal);
      await pruneEvents(deps, signal);
    },
    logger: deps.logger,
  });

const endAbandoned = async ({ database, clock }: PruningDeps, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted && (await pauseBlockedLanes(database)));
  const createdBefore = Math.floor((clock().getTime() - WAITING_DAYS_MAX * DAY_MS) / 1_000);
  while (!signal.aborted && (await giveUpOldEvents(database, createdBefore)));
};

const pruneEvents = async (deps: PruningDeps, signal: AbortSignal): Promise<void> => {
  const { database, clock, logger, retentionDays } = deps;
  const createdBefore = Math.floor((clock().getTime() - retentionDays * DAY_MS) / 1_000);
  let total = 0;
  for (let after: string | undefined = ''; after !== undefined && !signal.aborted; ) {
    const lanes = await listLanesToPrune(database, { createdBefore, after, limit: LANES_PER_PAGE });
    for (const { ownerId, hasOld } of lanes) {
      if (hasOld) total += await pruneLane(database, { ownerId, createdBefore }, signal);
    }
    after = lanes.length === LANES_PER_PAGE ? lanes.at(-1)?.ownerId : undefined;
  }
  if (total > 0) logger.info({ count: total }, 'old events were deleted');
};

const pruneLane = async (
  database: Knex,
  lane: { readonly ownerId: string; readonly createdBefore: number },
  signal: AbortSignal,
): Promise<number> => {
  let total = 0;
  for (let count = BATCH; count === BATCH && !signal.aborted; total += count) {
    count = await deleteOldEvents(database, { ...lane, limit: BATCH });
  }
  return total;
};
