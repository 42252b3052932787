import type { AppTermsChange, Connection } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import type { Transact } from '../transact.ts';
import { budgetColumns, isStanding } from './connection.ts';
import { type DescribeConnectionsDeps, describeConnections } from './describe-connections.ts';
import { findCutoff } from './grant-queries.ts';
import { listStandingConnections, lockConnection, updateConnection } from './queries.ts';

export interface ChangeTermsDeps extends DescribeConnectionsDeps {
  readonly transact: Transact;
}

/**
 * Changes budget and pause of a connection: first in billing, which enforces them from the next request on, then here.
 * Throws `not_found` if there is no connection, and `service_unavailable` if billing does not respond.
 */
export const changeTerms = async (
  deps: ChangeTermsDeps,
  key: { readonly userId: string; readonly clientId: string },
  change: AppTermsChange,
): Promise<Connection> => {
  const { connection, terms } = await deps.transact(async (trx) => {
    // The lock keeps changes in the same order here and at billing.
    const locked = await lockConnection(trx, key);
    if (locked === undefined || !isStanding(locked, await findCutoff(trx, key.clientId))) throw notConnected();
    await updateConnection(trx, {
      ...locked,
      isPaused: change.paused ?? locked.isPaused,
      ...(change.budget === undefined ? {} : budgetColumns(change.budget)),
    });
    const [found] = await listStandingConnections(trx, key.userId, key.clientId);
    if (found === undefined) throw notConnected();
    return { connection: found, terms: await deps.billing.changeTerms(key, change) };
  });
  const [described] = await describeConnections(deps, [connection], new Map([[key.clientId, terms]]));
  if (described === undefined) throw notConnected();
  return described;
};

const notConnected = (): AppError => new AppError('not_found', 'You are not connected to this app.');
