import { appendToOutbox } from '@svc/messaging';
import { AppError } from '@svc/service-kit';
import type { MembershipKey } from '../memberships.ts';
import type { Transact, Transaction } from '../transact.ts';
import { deleteActingSessions, deleteSession, deleteSessionsExcept, findSessionById, lockSessions } from './queries.ts';

/** Signs out: the session, with those switched from it, ends here at once, and in other services after the commit by its revocation. */
export const endSession = async (deps: { transact: Transact }, sessionId: string): Promise<void> => {
  await deps.transact(async (trx) => {
    await lockSessions(trx, { id: sessionId });
    const ended = await deleteSession(trx, sessionId);
    await appendToOutbox(trx, ...ended.map(revocationOf));
  });
};

/** Ends one session of a user. Throws `not_found`. */
export const endSessionOfUser = async (
  deps: { transact: Transact },
  userId: string,
  sessionId: string,
): Promise<void> => {
  await deps.transact(async (trx) => {
    await lockSessions(trx, { id: sessionId });
    const session = await findSessionById(trx, sessionId);
    if (session?.userId !== userId) throw new AppError('not_found');
    const ended = await deleteSession(trx, sessionId);
    await appendToOutbox(trx, ...ended.map(revocationOf));
  });
};

/** Ends the sessions of the caller's account, except those of the caller's sign-in. */
export const endOtherSessions = async (
  deps: { transact: Transact },
  caller: { userId: string; sessionId: string },
): Promise<void> => {
  await deps.transact(async (trx) => {
    await lockSessions(trx, { user_id: caller.userId });
    const ended = await deleteSessionsExcept(trx, caller.userId, caller.sessionId);
    if (ended.length > 0) await appendToOutbox(trx, ...ended.map(revocationOf));
  });
};

/** Ends the sessions in which a person acts for an organization, or those begun before a time. */
export const endActingSessions = async (trx: Transaction, key: MembershipKey, before?: Date): Promise<void> => {
  const ended = await deleteActingSessions(trx, key, before);
  if (ended.length > 0) await appendToOutbox(trx, ...ended.map(revocationOf));
};

const revocationOf = (sessionId: string) => ({ revocation: { key: `session.${sessionId}` } });
