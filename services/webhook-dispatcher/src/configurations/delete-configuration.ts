import type { Knex } from 'knex';
import { deleteEvents, deleteLane } from '../events/index.ts';
import { deleteConfigurationRow } from './queries.ts';

/** Removes what an app that no longer exists has left: configuration, lane, events. */
export const deleteConfiguration = async (trx: Knex.Transaction, clientId: string): Promise<void> => {
  // The lane first: whoever stores or delivers for this app waits for it, and then finds nothing.
  await deleteLane(trx, clientId);
  await deleteEvents(trx, clientId);
  await deleteConfigurationRow(trx, clientId);
};
