import type { newId } from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import { AppError } from '@svc/service-kit';
import { type AccountRecord, updateCredentials } from '../accounts/index.ts';
import type { MembershipKey } from '../memberships.ts';
import type { Transact, Transaction } from '../transact.ts';
import {
  deleteActingSessions,
  deleteSession,
  deleteSessionsExcept,
  deleteSessionsOfUser,
  findNewestSessionId,
  findSessionById,
  lockSessions,
  newSessionId,
} from './session.ts';
import { deleteChallengesOfUser } from './sign-in-challenges.ts';

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

/** Returns an id that is not smaller than that of any session of a locked account. */
export const nextRevocation = async (
  deps: { newId: typeof newId },
  trx: Transaction,
  { account, now }: { account: AccountRecord; now: Date },
): Promise<string> => {
  const newest = newSessionId(deps, now, account.sessionsRevokedThrough);
  const known = await findNewestSessionId(trx, account.id);
  return known === undefined || known < newest ? newest : known;
};

/**
 * Signs a locked account out everywhere with one revocation, which covers sessions up to `revokedThrough` and voids
 * remembered devices. Only a sign-in that has read the new state can start a session.
 */
export const endAllSessions = async (
  trx: Transaction,
  { userId, revokedThrough }: { userId: string; revokedThrough: string },
): Promise<void> => {
  await deleteSessionsOfUser(trx, userId);
  await deleteChallengesOfUser(trx, userId);
  await updateCredentials(trx, userId, { sessionsRevokedThrough: revokedThrough });
  await appendToOutbox(trx, { revocation: { key: `account.${userId}`, value: { revoked_through: revokedThrough } } });
};
