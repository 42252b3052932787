import type { Knex } from 'knex';
import { deleteEvents, deleteLane } from '../events/index.ts';
import { deleteConfigurationRow } from './queries.ts';

/** Deletes the configuration, lane and events of an app that no longer exists. */
export const deleteConfiguration = async (trx: Knex.Transaction, clientId: string): Promise<void> => {
  // The lane first: writers of this app wait for its lock, and then find no lane.
  await deleteLane(trx, clientId);
  await deleteEvents(trx, clientId);
  await deleteConfigurationRow(trx, clientId);
};
