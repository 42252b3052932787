import { type ConnectionAuditEntry, type EndedConnection, type newId, routes } from '@svc/contracts';
import { AppError, type Binding, bind, type Clock } from '@svc/service-kit';
import type { Executor, Transact } from '../transact.ts';
import { type AuditRecord, listAuditEntries, originOf } from './audit.ts';
import { changeTerms, type TermsTurns } from './change-terms.ts';
import { listEndedConnectionRecords, requireLiveBudget } from './connection.ts';
import { endConnection } from './end-connections.ts';
import { endGrantOfUser, listGrants } from './grants.ts';
import {
  type DescribeConnectionsDeps,
  getConnection,
  type ListConnectionsDeps,
  listConnections,
  toConnectedAppJson,
} from './list-connections.ts';

const CONNECTIONS_MAX = 100;

interface ListEndedConnectionsDeps extends Pick<DescribeConnectionsDeps, 'findConnectedApps'> {
  readonly database: Executor;
}

/** Lists the apps that a user is no longer connected to, the newest end first. Deleted apps are left out. */
const listEndedConnections = async (
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

/** Returns a page of the audit trail of a user and an app. Throws `not_found` if it is empty. */
const listConnectionAudit = async (
  deps: { database: Executor },
  page: { userId: string; clientId: string; limit: number; after: string | undefined },
): Promise<{ data: ConnectionAuditEntry[]; has_more: boolean }> => {
  // One more than requested shows if there are more.
  const found = await listAuditEntries(deps.database, { ...page, limit: page.limit + 1 });
  if (found.length === 0 && page.after === undefined) throw new AppError('not_found');
  return { data: found.slice(0, page.limit).map(toJson), has_more: found.length > page.limit };
};

const toJson = (entry: AuditRecord): ConnectionAuditEntry => ({
  id: entry.id,
  action: entry.action,
  scope: entry.scope,
  network: entry.network,
  client_kind: entry.clientKind,
  happened_at: entry.happenedAt.toISOString(),
});

export interface ConnectionRoutesDeps extends ListConnectionsDeps {
  readonly transact: Transact;
  readonly clock: Clock;
  readonly newId: typeof newId;
  readonly termsTurns: TermsTurns;
}

/** Binds the routes of a user's connections. */
export const connectionRoutes = (deps: ConnectionRoutesDeps): Binding[] => [
  bind(routes.listConnections, async ({ caller }) => ({
    status: 200,
    body: { data: await listConnections(deps, caller.userId) },
  })),
  bind(routes.listEndedConnections, async ({ caller }) => ({
    status: 200,
    body: { data: await listEndedConnections(deps, caller.userId) },
  })),
  bind(routes.getConnection, async ({ caller, params }) => ({
    status: 200,
    body: await getConnection(deps, { userId: caller.userId, clientId: params.client_id }),
  })),
  bind(routes.updateConnection, async ({ caller, params, body, clientAddress }) => {
    requireLiveBudget(body.budget, deps.clock());
    const key = { userId: caller.userId, clientId: params.client_id };
    return {
      status: 200,
      body: await changeTerms(deps, key, { change: body, origin: originOf(clientAddress, 'console') }),
    };
  }),
  bind(routes.deleteConnection, async ({ caller, params, clientAddress }) => {
    const key = { userId: caller.userId, clientId: params.client_id };
    await endConnection(deps, key, originOf(clientAddress, 'console'));
    return { status: 204 };
  }),
  bind(routes.listGrants, async ({ caller, params }) => ({
    status: 200,
    body: { data: await listGrants(deps, { userId: caller.userId, clientId: params.client_id }) },
  })),
  bind(routes.deleteGrant, async ({ caller, params, clientAddress }) => {
    const key = { userId: caller.userId, clientId: params.client_id, grantId: params.grant_id };
    await endGrantOfUser(deps, key, originOf(clientAddress, 'console'));
    return { status: 204 };
  }),
  bind(routes.listConnectionAudit, async ({ caller, params, query }) => {
    const page = { userId: caller.userId, clientId: params.client_id, limit: query.limit, after: query.after };
    return { status: 200, body: await listConnectionAudit(deps, page) };
  }),
];
