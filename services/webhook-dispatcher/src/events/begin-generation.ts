import type { Knex } from 'knex';
import { startLaneGeneration } from './lane-queries.ts';
import { cancelOpenEvents } from './queries.ts';

/**
 * Ends the app's current generation, if there is one, and answers the number of the next. Open events of the old one are
 * cancelled; an attempt in flight has lost its lease, so that whatever it comes to changes nothing any more.
 */
export const beginGeneration = async (trx: Knex.Transaction, clientId: string): Promise<number> => {
  const { generation, doneSequence } = await startLaneGeneration(trx, clientId);
  await cancelOpenEvents(trx, clientId, doneSequence);
  return generation;
};
