import type { Executor, Transaction } from '../transact.ts';
import type { SessionRecord } from './session.ts';

interface Row {
  id: string;
  user_id: string;
  created_at: Date;
  expires_at: Date;
}

/** Stores a new session. */
export const insertSession = async (executor: Executor, session: SessionRecord): Promise<void> => {
  await executor('console_sessions').insert({
    id: session.id,
    user_id: session.userId,
    created_at: session.createdAt,
    expires_at: session.expiresAt,
  });
};

/** The session of an id, unless it was ended. */
export const findSessionById = async (executor: Executor, id: string): Promise<SessionRecord | undefined> => {
  const row = await executor<Row>('console_sessions').where({ id }).first();
  if (row === undefined) return undefined;
  return { id: row.id, userId: row.user_id, createdAt: row.created_at, expiresAt: row.expires_at };
};

/** Removes a session; false where there was none. */
export const deleteSession = async (trx: Transaction, id: string): Promise<boolean> =>
  (await trx('console_sessions').where({ id }).delete()) > 0;

/** Removes at most `limit` sessions that expired before an instant, and answers how many. */
export const deleteSessionsExpiredBefore = async (executor: Executor, before: Date, limit: number): Promise<number> =>
  await executor('console_sessions')
    .whereIn('id', executor('console_sessions').where('expires_at', '<', before).limit(limit).select('id'))
    .delete();
