import type { Knex } from 'knex';
import { startLaneGeneration } from './lane-queries.ts';
import { cancelOpenEvents } from './queries.ts';

/**
 * Ends the app's current generation, if there is one, and returns the number of the next. Cancels the open events of the old one.
 * An attempt in flight has lost its lease, so its outcome changes nothing.
 */
export const beginGeneration = async (trx: Knex.Transaction, clientId: string): Promise<number> => {
  const { generation, doneSequence } = await startLaneGeneration(trx, clientId);
  await cancelOpenEvents(trx, clientId, doneSequence);
  return generation;
};
