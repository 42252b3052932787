import type { AppTerms, Connection } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import type { ConnectionKey } from '../billing-client.ts';
import type { Executor } from '../transact.ts';
import { type DescribeConnectionsDeps, describeConnections } from './describe-connections.ts';
import { listStandingConnections } from './queries.ts';

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
