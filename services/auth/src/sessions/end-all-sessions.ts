import type { newId } from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import { type AccountRecord, updateCredentials } from '../accounts/index.ts';
import type { Transaction } from '../transact.ts';
import { deleteChallengesOfUser, deleteSessionsOfUser, findNewestSessionId } from './queries.ts';
import { newSessionId } from './session.ts';

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
