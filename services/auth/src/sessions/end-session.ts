import { appendToOutbox } from '@svc/messaging';
import type { Transact } from '../transact.ts';
import { deleteSession } from './queries.ts';

/** Signs out: the session is gone here at once, and its revocation reaches the other services after the commit. */
export const endSession = async (deps: { transact: Transact }, sessionId: string): Promise<void> => {
  await deps.transact(async (trx) => {
    const existed = await deleteSession(trx, sessionId);
    if (existed) await appendToOutbox(trx, { revocation: { key: `session.${sessionId}` } });
  });
};
