import { randomUUID } from 'node:crypto';
import { authEvents, type newId } from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import type { AccountRecord } from '../accounts/index.ts';
import { endConnectionsOfUser, type Origin } from '../connections/index.ts';
import { endAllSessions } from '../sessions/index.ts';
import type { Transaction } from '../transact.ts';

/** A locked account whose access ends. */
export interface EndedAccess {
  readonly account: AccountRecord;
  /** Source of the request, for the audit trail of each connection. */
  readonly origin: Origin;
  readonly now: Date;
  /** If true, keeps connections and API keys. Sessions end in any case. */
  readonly keepAccess: boolean;
}

/**
 * Ends all access to an account: its sessions, connections with their grants, and API keys. Returns the account's new
 * state. Only a sign-in that has read this state can start a session.
 */
export const endAccountAccess = async (
  deps: { newId: typeof newId },
  trx: Transaction,
  { account, origin, now, keepAccess }: EndedAccess,
): Promise<AccountRecord> => {
  const { account: signedOut, revokedThrough } = await endAllSessions(deps, trx, { account, now });
  if (keepAccess) return signedOut;
  await endConnectionsOfUser(deps, trx, { userId: account.id, origin, now });
  // The revocation disables the keys within a second. The fact deletes them, because a revocation expires.
  await appendToOutbox(
    trx,
    { revocation: { key: `keys.${account.id}`, value: { revoked_through: revokedThrough } } },
    {
      subject: authEvents.accountAccessEnded.subject,
      aggregate: `access_end:${randomUUID()}`,
      version: 1,
      data: { svc_user_id: account.id, sessions_revoked_through: revokedThrough },
    },
  );
  return signedOut;
};
