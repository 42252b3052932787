import type { Executor, Transaction } from '../transact.ts';

/** Notes that the connections of an app are to be ended; one note is enough however often it is asked for. */
export const insertSuspension = async (trx: Transaction, clientId: string, now: Date): Promise<void> => {
  await trx('app_suspensions').insert({ client_id: clientId, requested_at: now }).onConflict('client_id').ignore();
};

/** Takes the suspension that waits longest and that no other worker is at; undefined where there is none. */
export const claimSuspension = async (trx: Transaction): Promise<string | undefined> => {
  const row = await trx<{ client_id: string; requested_at: Date }>('app_suspensions')
    .orderBy('requested_at')
    .forUpdate()
    .skipLocked()
    .first('client_id');
  return row?.client_id;
};

/** Removes a suspension that is done. */
export const deleteSuspension = async (trx: Transaction, clientId: string): Promise<void> => {
  await trx('app_suspensions').where({ client_id: clientId }).delete();
};

/** Counts the apps that still have connections to end. */
export const countSuspensions = async (executor: Executor): Promise<number> => {
  const row = await executor('app_suspensions').count<{ count: number }>('* as count').first();
  return row?.count ?? 0;
};
