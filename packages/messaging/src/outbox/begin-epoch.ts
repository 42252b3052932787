import type { Knex } from 'knex';
import { uuidV7 } from './uuid-v7.ts';

/** A life of the database, from one restore to the next. */
export interface Epoch {
  readonly epoch: string;
  readonly beganAt: Date;
}

/**
 * Begins the epoch after a restore to this moment, and returns it. A repetition for the same moment returns the one that
 * began. Waits for the transactions that have read an epoch, so that none publishes in one epoch what it has numbered in
 * another.
 */
export const beginEpoch = async (database: Knex, restoredTo: Date): Promise<Epoch> =>
  await database.transaction(async (trx) => {
    await trx.raw('LOCK TABLE epochs IN ACCESS EXCLUSIVE MODE');
    await trx('epochs').insert({ epoch: uuidV7(), restored_to: restoredTo }).onConflict('restored_to').ignore();
    const { epoch, began_at: beganAt } = await trx('epochs').where({ restored_to: restoredTo }).first();
    return { epoch, beganAt };
  });
