import type { AppTerms, Connection } from '@svc/contracts';
import type { BillingClient } from '../billing-client.ts';
import type { ConnectionRecord } from './connection.ts';

/** An app in a list of connections. */
export interface ConnectedApp {
  readonly name: string;
  readonly iconUrl: string;
  readonly homepageUrl: string | null;
}

/** Lookups for the details that connections show. Apps belong to another slice, budgets to another service. */
export interface DescribeConnectionsDeps {
  readonly billing: BillingClient;
  readonly findConnectedApps: (clientIds: readonly string[]) => Promise<ReadonlyMap<string, ConnectedApp>>;
}

/** Returns an app as a list of connections names it. */
export const toConnectedAppJson = ({ name, iconUrl, homepageUrl }: ConnectedApp): Connection['app'] => ({
  name,
  icon_url: iconUrl,
  homepage_url: homepageUrl,
});

const NO_TERMS: AppTerms = { paused: false, budget: null };

/** Maps connections to the JSON that their user sees. Omits connections whose app was just deleted. */
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
      app: toConnectedAppJson(app),
      scope: connection.scope,
      connected_at: connection.connectedAt.toISOString(),
      last_used_at: connection.lastUsedAt?.toISOString() ?? null,
      ...(terms.get(connection.clientId) ?? NO_TERMS),
    };
  });
};
