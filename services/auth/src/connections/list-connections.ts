import type { Connection } from '@svc/contracts';
import type { Executor } from '../transact.ts';
import { listStandingConnections } from './queries.ts';

/** What a list of connections shows of an app. */
export interface ConnectedApp {
  readonly name: string;
  readonly iconUrl: string;
  readonly homepageUrl: string | null;
}

/** What listing needs; apps are another slice's, so their look-up is passed in. */
export interface ListConnectionsDeps {
  readonly database: Executor;
  readonly findConnectedApps: (clientIds: readonly string[]) => Promise<ReadonlyMap<string, ConnectedApp>>;
}

/** The apps that a user is connected to, newest first. */
export const listConnections = async (deps: ListConnectionsDeps, userId: string): Promise<Connection[]> => {
  const connections = await listStandingConnections(deps.database, userId);
  const apps = await deps.findConnectedApps(connections.map(({ clientId }) => clientId));
  return connections.flatMap((connection) => {
    const app = apps.get(connection.clientId);
    // Deleted between the two reads.
    if (app === undefined) return [];
    return {
      client_id: connection.clientId,
      app: { name: app.name, icon_url: app.iconUrl, homepage_url: app.homepageUrl },
      scope: connection.scope,
      connected_at: connection.connectedAt.toISOString(),
      last_used_at: connection.lastUsedAt?.toISOString() ?? null,
    };
  });
};
