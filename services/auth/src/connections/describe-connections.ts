import type { AppTerms, Connection } from '@svc/contracts';
import type { BillingClient } from '../billing-client.ts';
import type { ConnectionRecord } from './connection.ts';

/** An app in a list of connections. */
export interface ConnectedApp {
  readonly name: string;
  readonly iconUrl: string;
  readonly homepageUrl: string | null;
}

/** Finds what connections show beside their own row; apps are another slice's, budgets another service's. */
export interface DescribeConnectionsDeps {
  readonly billing: BillingClient;
  readonly findConnectedApps: (clientIds: readonly string[]) => Promise<ReadonlyMap<string, ConnectedApp>>;
}

const NO_TERMS: AppTerms = { paused: false, budget: null };

/** Returns connections as their user sees them. One whose app was just deleted is left out. */
export const describeConnections = async (
  { findConnectedApps }: DescribeConnectionsDeps,
  connections: readonly ConnectionRecord[],
  terms: ReadonlyMap<string, AppTerms>,
): Promise<Connection[]> => {
  const apps = await findConnectedApps(connections.map(({ clientId }) => clientId));
  return connections.flatMap((connection) => {
    const app = apps.get(connection.clientId);
    if (app === undefined) return [];
    return {
      client_id: connection.clientId,
      app: { name: app.name, icon_url: app.iconUrl, homepage_url: app.homepageUrl },
      scope: connection.scope,
      connected_at: connection.connectedAt.toISOString(),
      last_used_at: connection.lastUsedAt?.toISOString() ?? null,
      ...(terms.get(connection.clientId) ?? NO_TERMS),
    };
  });
};
