import type { AppTermsChange, Connection, newId } from '@svc/contracts';
import { AppError, type Clock } from '@svc/service-kit';
import { createKeyedQueues } from '../bounded-queue.ts';
import type { Executor, Transact } from '../transact.ts';
import { auditRecord, type ConnectionAction, insertAuditEntries, type Origin } from './audit.ts';
import {
  budgetColumns,
  type ConnectionRecord,
  isStanding,
  listStandingConnections,
  lockConnection,
  updateConnection,
} from './connection.ts';
import { findCutoff } from './grant-queries.ts';
import { type DescribeConnectionsDeps, describeConnections } from './list-connections.ts';

/** Consents and changes of one connection that may wait. A burst of consents is fast: most of them need no call. */
const WAITING_MAX = 256;
/** Attempts while other replicas change the same connection. */
const ATTEMPTS_MAX = 5;

/** Thrown if another request has changed budget or pause of a connection since they were read. */
export class TermsMoved extends Error {
  override readonly name = 'TermsMoved';
}

/**
 * Lets changes of one connection's budget and pause take turns, so that billing and auth see them in the same order.
 * Billing is called between reading and writing the connection, without a lock or a transaction: a change that finds
 * the connection moved is made again.
 */
export interface TermsTurns {
  /**
   * Runs a change in its turn, again after TermsMoved. Throws `service_unavailable` if too many wait, or if the
   * connection keeps moving.
   */
  readonly run: <T>(key: { userId: string; clientId: string }, change: () => Promise<T>) => Promise<T>;
}

export const createTermsTurns = (): TermsTurns => {
  const refusal = 'This connection is being changed. Try again in a moment.';
  const inTurn = createKeyedQueues({ runningMax: 1, waitingMax: WAITING_MAX, refusal });
  return {
    run: ({ userId, clientId }, change) => inTurn(`${userId} ${clientId}`, () => repeatWhileMoved(change)),
  };
};

const repeatWhileMoved = async <T>(change: () => Promise<T>): Promise<T> => {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    try {
      return await change();
    } catch (error) {
      if (!(error instanceof TermsMoved)) throw error;
    }
  }
  throw new AppError('service_unavailable');
};

export interface ChangeTermsDeps extends DescribeConnectionsDeps {
  readonly database: Executor;
  readonly transact: Transact;
  readonly termsTurns: TermsTurns;
  readonly clock: Clock;
  readonly newId: typeof newId;
}

/** A change that a user makes to the terms of a connection. */
interface AskedChange {
  readonly change: AppTermsChange;
  readonly origin: Origin;
}

/**
 * Changes budget and pause of a connection: first in billing, which enforces them from the next request on, then here.
 * No transaction waits for billing. Records what has changed in the history of the connection. Throws `not_found` if
 * there is no connection, and `service_unavailable` if billing does not respond.
 */
export const changeTerms = async (
  deps: ChangeTermsDeps,
  key: { readonly userId: string; readonly clientId: string },
  asked: AskedChange,
): Promise<Connection> => {
  const { connection, terms } = await deps.termsTurns.run(key, async () => {
    const [known] = await listStandingConnections(deps.database, key.userId, key.clientId);
    if (known === undefined) throw notConnected();
    const changed = await deps.billing.changeTerms(key, asked.change);
    return { connection: await storeTerms(deps, known, asked), terms: changed };
  });
  const [described] = await describeConnections(deps, [connection], new Map([[key.clientId, terms]]));
  if (described === undefined) throw notConnected();
  return described;
};

const storeTerms = (
  deps: ChangeTermsDeps,
  known: ConnectionRecord,
  { change, origin }: AskedChange,
): Promise<ConnectionRecord> =>
  deps.transact(async (trx) => {
    const { userId, clientId } = known;
    const locked = await lockConnection(trx, known);
    if (locked === undefined || !isStanding(locked, await findCutoff(trx, clientId))) throw notConnected();
    if (locked.termsVersion !== known.termsVersion) throw new TermsMoved();
    const next = {
      ...locked,
      isPaused: change.paused ?? locked.isPaused,
      ...(change.budget === undefined ? {} : budgetColumns(change.budget)),
      termsVersion: locked.termsVersion + 1,
    };
    await updateConnection(trx, next);
    const now = deps.clock();
    const actions = actionsBetween(locked, next);
    await insertAuditEntries(
      trx,
      actions.map((action) => auditRecord(deps, known, { action, origin, now })),
    );
    const [stored] = await listStandingConnections(trx, userId, clientId);
    if (stored === undefined) throw notConnected();
    return stored;
  });

/** Returns the acts that lead from one state of a connection's terms to another. */
const actionsBetween = (before: ConnectionRecord, after: ConnectionRecord): ConnectionAction[] => {
  const isSameLimit =
    before.budgetLimitMicros === after.budgetLimitMicros &&
    before.budgetPeriod === after.budgetPeriod &&
    before.budgetExpiresAt?.getTime() === after.budgetExpiresAt?.getTime();
  return [
    ...(isSameLimit ? [] : ['limit_changed' as const]),
    ...(before.isPaused === after.isPaused ? [] : [after.isPaused ? ('paused' as const) : ('resumed' as const)]),
  ];
};

const notConnected = (): AppError => new AppError('not_found', 'You are not connected to this app.');
