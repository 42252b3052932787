import type { Knex } from 'knex';
import { deleteConfiguration } from '../configurations/index.ts';
import { deleteLane } from '../events/index.ts';
import { insertEndedLane } from './queries.ts';

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
