import type { Grant, newId } from '@svc/contracts';
import { AppError, type Clock } from '@svc/service-kit';
import type { Executor, Transact } from '../transact.ts';
import type { Origin } from './audit.ts';
import { isStanding } from './connection.ts';
import { endGrant } from './end-grants.ts';
import { findCutoff, findGrant, listGrantsOfConnection } from './grant-queries.ts';
import { findConnection } from './queries.ts';

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
