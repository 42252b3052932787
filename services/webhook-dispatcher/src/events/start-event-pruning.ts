import { type Clock, type Logger, type PeriodicWork, runPeriodically } from '@svc/service-kit';
import type { Knex } from 'knex';
import { deleteDoneEventsBefore } from './queries.ts';

export interface PruningDeps {
  readonly database: Knex;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly retentionDays: number;
}

const INTERVAL_MS = 3_600_000;
const BATCH = 1_000;
const DAY_MS = 86_400_000;

/** Deletes old events that are delivered, skipped or cancelled: now and every hour. Replicas may do so at the same time. */
export const startEventPruning = (deps: PruningDeps): PeriodicWork =>
  runPeriodically({
    name: 'event pruning',
    intervalMs: INTERVAL_MS,
    run: (signal) => pruneEvents(deps, signal),
    logger: deps.logger,
  });

const pruneEvents = async (
  { database, clock, logger, retentionDays }: PruningDeps,
  signal: AbortSignal,
): Promise<void> => {
  const createdSeconds = Math.floor((clock().getTime() - retentionDays * DAY_MS) / 1_000);
  let total = 0;
  for (let count = BATCH; count === BATCH && !signal.aborted; total += count) {
    count = await deleteDoneEventsBefore(database, createdSeconds, BATCH);
  }
  if (total > 0) logger.info({ count: total }, 'old events were deleted');
};
