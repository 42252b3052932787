import type { newId } from '@svc/contracts';
import type { Transaction } from '../transact.ts';
import type { Origin } from './audit.ts';
import { isStanding } from './connection.ts';
import { endLockedConnection } from './end-connection.ts';
import { endGrants, laterOf } from './end-grants.ts';
import { findCutoff, listGrantsOfUser } from './grant-queries.ts';
import { lockConnection, updateConnection } from './queries.ts';

/**
 * Ends the grants that a user gave since a moment. A connection with earlier grants keeps those and the scope of the
 * newest of them; another one ends. The caller has locked the account, so no consent adds a grant meanwhile.
 */
export const endGrantsSince = async (
  deps: { newId: typeof newId },
  trx: Transaction,
  { userId, since, origin, now }: { userId: string; since: Date; origin: Origin; now: Date },
): Promise<void> => {
  const grants = await listGrantsOfUser(trx, userId);
  const recent = grants.filter(({ createdAt }) => createdAt >= since);
  const clientIds = [...new Set(recent.map(({ clientId }) => clientId))].sort();
  for (const clientId of clientIds) {
    const connection = await lockConnection(trx, { userId, clientId });
    if (connection === undefined) throw new Error('a grant has no connection');
    const last = grants.filter((grant) => grant.clientId === clientId && grant.createdAt < since).at(-1);
    if (last === undefined && isStanding(connection, await findCutoff(trx, clientId))) {
      await endLockedConnection(deps, trx, { connection, origin, now });
      continue;
    }
    const ids = recent.filter((grant) => grant.clientId === clientId).map(({ id }) => id);
    const lastUsedAt = laterOf(connection.lastUsedAt, await endGrants(trx, connection, ids));
    const kept = last === undefined ? {} : { scope: last.scope, lastGrantId: last.id };
    await updateConnection(trx, { ...connection, ...kept, lastUsedAt });
  }
};
