import type { AppTerms, Connection } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import type { BillingClient, ConnectionKey } from '../billing-client.ts';
import type { Executor } from '../transact.ts';
import { type ConnectionRecord, listStandingConnections } from './connection.ts';

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

type StandingConnections = Awaited<ReturnType<typeof listStandingConnections>>;

export interface ListConnectionsDeps extends DescribeConnectionsDeps {
  readonly database: Executor;
}

/** Returns a user's connection to an app. Throws `not_found`. */
export const getConnection = async (
  deps: ListConnectionsDeps,
  { userId, clientId }: ConnectionKey,
): Promise<Connection> => {
  const connections = await listStandingConnections(deps.database, userId);
  const [found] = await withTerms(deps, {
    userId,
    connections: connections.filter((one) => one.clientId === clientId),
  });
  if (found === undefined) throw new AppError('not_found');
  return found;
};

/**
 * Lists the apps that a user is connected to, newest first. Calls billing only if one of them has a budget or is
 * paused.
 */
export const listConnections = async (deps: ListConnectionsDeps, userId: string): Promise<Connection[]> => {
  const connections = await listStandingConnections(deps.database, userId);
  return await withTerms(deps, { userId, connections });
};

const withTerms = async (
  deps: ListConnectionsDeps,
  { userId, connections }: { readonly userId: string; readonly connections: StandingConnections },
): Promise<Connection[]> => {
  const hasTerms = connections.some(({ isPaused, budgetLimitMicros }) => isPaused || budgetLimitMicros !== null);
  const terms = hasTerms ? await deps.billing.listTerms(userId) : new Map<string, AppTerms>();
  return await describeConnections(deps, connections, terms);
};
