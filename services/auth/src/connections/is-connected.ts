import type { Executor } from '../transact.ts';
import { isStanding } from './connection.ts';
import { findCutoff } from './grant-queries.ts';
import { findConnection } from './queries.ts';

/** Returns true if a user is connected to an app now. */
export const isConnected = async (executor: Executor, key: { userId: string; clientId: string }): Promise<boolean> => {
  const connection = await findConnection(executor, key);
  return connection !== undefined && isStanding(connection, await findCutoff(executor, key.clientId));
};
