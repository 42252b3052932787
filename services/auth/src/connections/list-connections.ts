import type { AppTerms, Connection } from '@svc/contracts';
import type { Executor } from '../transact.ts';
import { type DescribeConnectionsDeps, describeConnections } from './describe-connections.ts';
import { listStandingConnections } from './queries.ts';

export interface ListConnectionsDeps extends DescribeConnectionsDeps {
  readonly database: Executor;
}

/**
 * Lists the apps that a user is connected to, newest first. Calls billing only if one of them has a budget or is
 * paused.
 */
export const listConnections = async (deps: ListConnectionsDeps, userId: string): Promise<Connection[]> => {
  const connections = await listStandingConnections(deps.database, userId);
  const hasTerms = connections.some(({ isPaused, budgetLimitMicros }) => isPaused || budgetLimitMicros !== null);
  const terms = hasTerms ? await deps.billing.listTerms(userId) : new Map<string, AppTerms>();
  return await describeConnections(deps, connections, terms);
};
