import type { AppTermsChange, Connection } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import type { Executor, Transact } from '../transact.ts';
import { budgetColumns, type ConnectionRecord, isStanding } from './connection.ts';
import { type DescribeConnectionsDeps, describeConnections } from './describe-connections.ts';
import { findCutoff } from './grant-queries.ts';
import { listStandingConnections, lockConnection, updateConnection } from './queries.ts';
import { TermsMoved, type TermsTurns } from './terms-turns.ts';

export interface ChangeTermsDeps extends DescribeConnectionsDeps {
  readonly database: Executor;
  readonly transact: Transact;
  readonly termsTurns: TermsTurns;
}

/**
 * Changes budget and pause of a connection: first in billing, which enforces them from the next request on, then here.
 * No transaction waits for billing. Throws `not_found` if there is no connection, and `service_unavailable` if billing
 * does not respond.
 */
export const changeTerms = async (
  deps: ChangeTermsDeps,
  key: { readonly userId: string; readonly clientId: string },
  change: AppTermsChange,
): Promise<Connection> => {
  const { connection, terms } = await deps.termsTurns.run(key, async () => {
    const [known] = await listStandingConnections(deps.database, key.userId, key.clientId);
    if (known === undefined) throw notConnected();
    const changed = await deps.billing.changeTerms(key, change);
    return { connection: await storeTerms(deps, { known, change }), terms: changed };
  });
  const [described] = await describeConnections(deps, [connection], new Map([[key.clientId, terms]]));
  if (described === undefined) throw notConnected();
  return described;
};

const storeTerms = (
  deps: ChangeTermsDeps,
  { known, change }: { known: ConnectionRecord; change: AppTermsChange },
): Promise<ConnectionRecord> =>
  deps.transact(async (trx) => {
    const { userId, clientId } = known;
    const locked = await lockConnection(trx, known);
    if (locked === undefined || !isStanding(locked, await findCutoff(trx, clientId))) throw notConnected();
    if (locked.termsVersion !== known.termsVersion) throw new TermsMoved();
    await updateConnection(trx, {
      ...locked,
      isPaused: change.paused ?? locked.isPaused,
      ...(change.budget === undefined ? {} : budgetColumns(change.budget)),
      termsVersion: locked.termsVersion + 1,
    });
    const [stored] = await listStandingConnections(trx, userId, clientId);
    if (stored === undefined) throw notConnected();
    return stored;
  });

const notConnected = (): AppError => new AppError('not_found', 'You are not connected to this app.');
