import type { EndedConnection } from '@svc/contracts';
import type { Executor } from '../transact.ts';
import { type DescribeConnectionsDeps, toConnectedAppJson } from './describe-connections.ts';
import { listEndedConnectionRecords } from './queries.ts';

const CONNECTIONS_MAX = 100;

export interface ListEndedConnectionsDeps extends Pick<DescribeConnectionsDeps, 'findConnectedApps'> {
  readonly database: Executor;
}

/** Lists the apps that a user is no longer connected to, the newest end first. Deleted apps are left out. */
export const listEndedConnections = async (
  { database, findConnectedApps }: ListEndedConnectionsDeps,
  userId: string,
): Promise<EndedConnection[]> => {
  const connections = await listEndedConnectionRecords(database, userId, CONNECTIONS_MAX);
  const apps = await findConnectedApps(connections.map(({ clientId }) => clientId));
  return connections.flatMap(({ clientId, connectedAt, lastUsedAt, endedAt }) => {
    const app = apps.get(clientId);
    if (app === undefined || endedAt === null) return [];
    return {
      client_id: clientId,
      app: toConnectedAppJson(app),
      connected_at: connectedAt.toISOString(),
      last_used_at: lastUsedAt?.toISOString() ?? null,
      ended_at: endedAt.toISOString(),
    };
  });
};
