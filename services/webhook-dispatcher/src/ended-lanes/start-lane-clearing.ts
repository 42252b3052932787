import { type Logger, type PeriodicWork, runPeriodically } from '@svc/service-kit';
import type { Knex } from 'knex';
import { deleteActivity } from '../analytics/index.ts';
import { deleteConnectionsOfApp } from '../connections/index.ts';
import { deleteEventsOfOwner } from '../events/index.ts';
import { deleteEndedLane, lockEndedLane } from './queries.ts';

const INTERVAL_MS = 2_000;
/** Rows of a kind in one transaction. */
const BATCH = 1_000;

/**
 * Deletes events of ended lanes, and connections and numbers of their apps, a batch in each transaction. Replicas may do so at the
 * same time.
 */
export const startLaneClearing = ({ database, logger }: { database: Knex; logger: Logger }): PeriodicWork =>
  runPeriodically({
    name: 'ended lanes',
    intervalMs: INTERVAL_MS,
    run: async (signal) => {
      while (!signal.aborted && (await database.transaction(clearBatch)));
    },
    logger,
  });

/** Returns true if there was an owner to clear. */
const clearBatch = async (trx: Knex.Transaction): Promise<boolean> => {
  const ownerId = await lockEndedLane(trx);
  if (ownerId === undefined) return false;
  const events = await deleteEventsOfOwner(trx, ownerId, BATCH);
  const connections = await deleteConnectionsOfApp(trx, ownerId, BATCH);
  if (events < BATCH && connections < BATCH) {
    await deleteActivity(trx, ownerId);
    await deleteEndedLane(trx, ownerId);
  }
  return true;
};
