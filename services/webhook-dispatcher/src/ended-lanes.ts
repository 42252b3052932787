import { events } from '@svc/contracts';
import { type Consumer, type Messaging, startConsumer } from '@svc/messaging';
import { AppError, type Logger, type PeriodicWork, runPeriodically } from '@svc/service-kit';
import type { Knex } from 'knex';
import { deleteActivity } from './analytics.ts';
import { deleteConfiguration } from './configurations/index.ts';
import { deleteConnectionsOfApp, deleteEndedConnectionsOfUser, lockUsers } from './connections.ts';
import { deleteEventsOfOwner, deleteLane } from './events/index.ts';

/** Notes an owner whose rows are to be deleted. */
const insertEndedLane = async (trx: Knex.Transaction, ownerId: string): Promise<void> => {
  await trx('ended_lanes').insert({ owner_id: ownerId }).onConflict().ignore();
};

/** Locks the owner of an ended lane with rows left. Replicas pass over each other's. */
const lockEndedLane = async (trx: Knex.Transaction): Promise<string | undefined> => {
  const row = await trx('ended_lanes').orderBy('owner_id').forUpdate().skipLocked().first('owner_id');
  return row?.owner_id;
};

/** Forgets an owner of whom nothing is left. */
const deleteEndedLane = async (trx: Knex.Transaction, ownerId: string): Promise<void> => {
  await trx('ended_lanes').where({ owner_id: ownerId }).delete();
};

/**
 * Ends the webhook of an app or account that no longer exists, in a time that does not depend on its events. The job of
 * `startLaneClearing` deletes those, and the connections of an app.
 */
export const endLane = async (trx: Knex.Transaction, ownerId: string): Promise<void> => {
  // The lane first: writers of this owner wait for its lock, and then find no lane.
  await deleteLane(trx, ownerId);
  await deleteConfiguration(trx, ownerId);
  await insertEndedLane(trx, ownerId);
};

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

/** Starts the consumer that ends the webhooks of erased accounts, and forgets their connections once the apps know their ends. */
export const startErasureConsumer = ({
  messaging,
  database,
}: {
  readonly messaging: Messaging;
  readonly database: Knex;
}): Consumer =>
  startConsumer({
    messaging,
    database,
    name: 'webhook-dispatcher_erasures',
    subjects: [events.accountErased.subject],
    handle: async (trx, { data }) => {
      await lockUsers(trx, [data.svc_user_id]);
      await endLane(trx, data.svc_user_id);
      // Another consumer ends the connections, and may be behind.
      if ((await deleteEndedConnectionsOfUser(trx, data.svc_user_id)) > 0) throw new AppError('service_unavailable');
    },
  });
