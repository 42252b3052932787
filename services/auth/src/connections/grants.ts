import type { Grant, newId } from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import { AppError, type Clock } from '@svc/service-kit';
import type { Executor, Transact, Transaction } from '../transact.ts';
import { auditRecord, insertAuditEntries, type Origin } from './audit.ts';
import { type ConnectionRecord, findConnection, isStanding, lockConnection, updateConnection } from './connection.ts';
import { deleteGrants, findCutoff, findGrant, listGrantsOfConnection } from './grant-queries.ts';

/**
 * Ends all grants of a locked connection, or those named. Codes and refresh tokens end at the commit, access tokens
 * once the revocations have spread. Returns the time of their last use.
 */
export const endGrants = async (
  trx: Transaction,
  connection: { userId: string; clientId: string },
  ids?: readonly string[],
): Promise<Date | null> => {
  if (ids?.length === 0) return null;
  const { userId, clientId } = connection;
  const ended = await deleteGrants(trx, { userId, clientId, ...(ids === undefined ? {} : { ids }) });
  await appendToOutbox(trx, ...ended.map(({ id }) => ({ revocation: { key: `grant.${id}` } })));
  return ended.reduce<Date | null>((latest, { lastUsedAt }) => laterOf(latest, lastUsedAt), null);
};

/**
 * Ends one grant. The connection stays, and keeps the last use and the reason. Does nothing if the grant has ended
 * already.
 */
export const endGrant = async (
  deps: { newId: typeof newId },
  trx: Transaction,
  grantId: string,
  cause: { action: 'token_reused' | 'revoked_by_app' | 'grant_ended'; origin: Origin; now: Date },
): Promise<void> => {
  const grant = await findGrant(trx, grantId);
  if (grant === undefined) return;
  const connection: ConnectionRecord | undefined = await lockConnection(trx, grant);
  if (connection === undefined) throw new Error('a grant has no connection');
  const lastUsedAt = await endGrants(trx, connection, [grantId]);
  await insertAuditEntries(trx, [auditRecord(deps, connection, { ...cause, scope: grant.scope })]);
  await updateConnection(trx, { ...connection, lastUsedAt: laterOf(connection.lastUsedAt, lastUsedAt) });
};

/** Returns the later of two times; null means unknown. */
export const laterOf = (a: Date | null, b: Date | null): Date | null => {
  if (a === null || b === null) return a ?? b;
  return a > b ? a : b;
};

/** Returns true if a user is connected to an app now. */
export const isConnected = async (executor: Executor, key: { userId: string; clientId: string }): Promise<boolean> => {
  const connection = await findConnection(executor, key);
  return connection !== undefined && isStanding(connection, await findCutoff(executor, key.clientId));
};

interface ConnectionKey {
  readonly userId: string;
  readonly clientId: string;
}

/** Lists the grants of a connection, newest first. Throws `not_found` if the user is not connected to the app. */
export const listGrants = async ({ database }: { database: Executor }, key: ConnectionKey): Promise<Grant[]> => {
  if (!(await isConnected(database, key))) throw new AppError('not_found', 'You are not connected to this app.');
  const grants = await listGrantsOfConnection(database, key);
  return grants.map(({ id, createdAt, lastUsedAt, scope, deviceName }) => ({
    id,
    created_at: createdAt.toISOString(),
    last_used_at: lastUsedAt?.toISOString() ?? null,
    scope,
    device_name: deviceName,
  }));
};

/** Ends one grant of a connection, which stays. Throws `not_found` if the user has no such grant. */
export const endGrantOfUser = async (
  deps: { transact: Transact; clock: Clock; newId: typeof newId },
  { grantId, ...key }: ConnectionKey & { grantId: string },
  origin: Origin,
): Promise<void> => {
  await deps.transact(async (trx) => {
    const grant = await findGrant(trx, grantId);
    if (grant?.userId !== key.userId || grant.clientId !== key.clientId) {
      throw new AppError('not_found', 'There is no such grant.');
    }
    await endGrant(deps, trx, grantId, { action: 'grant_ended', origin, now: deps.clock() });
  });
};
