import type { Executor, Transaction } from '../transact.ts';

/** Schedules the end of an app's connections. Idempotent. */
export const insertSuspension = async (trx: Transaction, clientId: string, now: Date): Promise<void> => {
  await trx('app_suspensions').insert({ client_id: clientId, requested_at: now }).onConflict('client_id').ignore();
};

/** Claims the oldest suspension, except those named, that no other worker has claimed; undefined if there is none. */
export const claimSuspension = async (trx: Transaction, except: readonly string[]): Promise<string | undefined> => {
  const row = await trx<{ client_id: string; requested_at: Date }>('app_suspensions')
    .whereNotIn('client_id', except)
    .orderBy('requested_at')
    .forUpdate()
    .skipLocked()
    .first('client_id');
  return row?.client_id;
};

/** Deletes a completed suspension. */
export const deleteSuspension = async (trx: Transaction, clientId: string): Promise<void> => {
  await trx('app_suspensions').where({ client_id: clientId }).delete();
};

/** Counts the apps that still have connections to end. */
export const countSuspensions = async (executor: Executor): Promise<number> => {
  const row = await executor('app_suspensions').count<{ count: number }>('* as count').first();
  return row?.count ?? 0;
};
