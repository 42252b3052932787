import type { newId } from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import { type AccountRecord, updateCredentials } from '../accounts/index.ts';
import type { Transaction } from '../transact.ts';
import { deleteSessionsOfUser } from './queries.ts';
import { newSessionId } from './session.ts';

/**
 * Signs a locked account out everywhere with one revocation. Returns the account's new state and its newest ended
 * session. Only a sign-in that has read this state can start a session.
 */
export const endAllSessions = async (
  deps: { newId: typeof newId },
  trx: Transaction,
  { account, now }: { account: AccountRecord; now: Date },
): Promise<{ account: AccountRecord; revokedThrough: string }> => {
  const ended = await deleteSessionsOfUser(trx, account.id);
  const newest = newSessionId(deps, now, account.sessionsRevokedThrough);
  const revokedThrough = [...ended, newest].sort().at(-1) ?? newest;
  await updateCredentials(trx, account.id, { sessionsRevokedThrough: revokedThrough });
  await appendToOutbox(trx, {
    revocation: { key: `account.${account.id}`, value: { revoked_through: revokedThrough } },
  });
  return { account: { ...account, sessionsRevokedThrough: revokedThrough }, revokedThrough };
};
