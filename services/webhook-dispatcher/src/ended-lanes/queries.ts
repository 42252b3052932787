import type { Knex } from 'knex';

/** Notes an owner whose rows are to be deleted. */
export const insertEndedLane = async (trx: Knex.Transaction, ownerId: string): Promise<void> => {
  await trx('ended_lanes').insert({ owner_id: ownerId }).onConflict().ignore();
};

/** Locks the owner of an ended lane with rows left. Replicas pass over each other's. */
export const lockEndedLane = async (trx: Knex.Transaction): Promise<string | undefined> => {
  const row = await trx('ended_lanes').orderBy('owner_id').forUpdate().skipLocked().first('owner_id');
  return row?.owner_id;
};

/** Forgets an owner of whom nothing is left. */
export const deleteEndedLane = async (trx: Knex.Transaction, ownerId: string): Promise<void> => {
  await trx('ended_lanes').where({ owner_id: ownerId }).delete();
};
