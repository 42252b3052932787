import { type newId, routes } from '@svc/contracts';
import { type Binding, bind, type Clock } from '@svc/service-kit';
import type { Transact } from '../transact.ts';
import { originOf } from './audit.ts';
import { changeTerms } from './change-terms.ts';
import { requireLiveBudget } from './connection.ts';
import { endConnection } from './end-connection.ts';
import { endGrantOfUser, listGrants } from './grants.ts';
import { listConnectionAudit } from './list-connection-audit.ts';
import { getConnection, type ListConnectionsDeps, listConnections } from './list-connections.ts';
import { listEndedConnections } from './list-ended-connections.ts';
import type { TermsTurns } from './terms-turns.ts';

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
  bind(routes.updateConnection, async ({ caller, params, body }) => {
    requireLiveBudget(body.budget, deps.clock());
    const key = { userId: caller.userId, clientId: params.client_id };
    return { status: 200, body: await changeTerms(deps, key, body) };
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
