import { authEvents, connectionAggregate, type newId } from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import { AppError, type Clock } from '@svc/service-kit';
import type { Transact, Transaction } from '../transact.ts';
import { auditRecord, insertAuditEntries, type Origin } from './audit.ts';
import { type ConnectionRecord, isStanding } from './connection.ts';
import { endGrants, laterOf } from './end-grants.ts';
import { findCutoff } from './grant-queries.ts';
import { lockConnection, updateConnection } from './queries.ts';

/**
 * Disconnects a user from an app: ends every grant and appends the fact `auth.connection.revoked`. Throws `not_found`
 * if they are not connected.
 */
export const endConnection = async (
  deps: { transact: Transact; clock: Clock; newId: typeof newId },
  key: { userId: string; clientId: string },
  origin: Origin,
): Promise<void> => {
  await deps.transact(async (trx) => {
    const connection = await lockConnection(trx, key);
    if (connection === undefined || !isStanding(connection, await findCutoff(trx, key.clientId))) {
      throw new AppError('not_found', 'You are not connected to this app.');
    }
    await endLockedConnection(deps, trx, { connection, origin, now: deps.clock() });
  });
};

/** As `endConnection`, for a standing connection that the caller has locked. */
export const endLockedConnection = async (
  deps: { newId: typeof newId },
  trx: Transaction,
  { connection, origin, now }: { connection: ConnectionRecord; origin: Origin; now: Date },
): Promise<void> => {
  const { userId, clientId } = connection;
  const version = connection.version + 1;
  const lastUsedAt = laterOf(connection.lastUsedAt, await endGrants(trx, connection));
  await updateConnection(trx, { ...connection, version, lastUsedAt, endedAt: now });
  await insertAuditEntries(trx, [auditRecord(deps, connection, { action: 'disconnected', origin, now })]);
  await appendToOutbox(trx, {
    subject: authEvents.connectionRevoked.subject,
    aggregate: connectionAggregate(userId, clientId),
    version,
    data: {
      svc_user_id: userId,
      client_id: clientId,
      reason: 'user_disconnected',
      revoked_at: now.toISOString(),
    },
  });
};
