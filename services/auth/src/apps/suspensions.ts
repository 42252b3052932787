import { authEvents, type newId } from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import { type Clock, type Logger, type PeriodicWork, runPeriodically } from '@svc/service-kit';
import { cutOffApp, endNextConnectionsOfApp, forgetNextConnectionsOfApp } from '../connections/index.ts';
import type { FailingItems } from '../failing-items.ts';
import { SECOND_MS } from '../time.ts';
import type { Executor, Transact, Transaction } from '../transact.ts';
import { appAggregate, appFact, deleteAppRow, findDeletedApp, isOwned, lockApp } from './app-record.ts';

/** Schedules the end of an app's connections. Idempotent. */
const insertSuspension = async (trx: Transaction, clientId: string, now: Date): Promise<void> => {
  await trx('app_suspensions').insert({ client_id: clientId, requested_at: now }).onConflict('client_id').ignore();
};

/** Claims the oldest suspension, except those named, that no other worker has claimed; undefined if there is none. */
const claimSuspension = async (trx: Transaction, except: readonly string[]): Promise<string | undefined> => {
  const row = await trx<{ client_id: string; requested_at: Date }>('app_suspensions')
    .whereNotIn('client_id', except)
    .orderBy('requested_at')
    .forUpdate()
    .skipLocked()
    .first('client_id');
  return row?.client_id;
};

/** Deletes a completed suspension. */
const deleteSuspension = async (trx: Transaction, clientId: string): Promise<void> => {
  await trx('app_suspensions').where({ client_id: clientId }).delete();
};

/** Counts the apps that still have connections to end. */
export const countSuspensions = async (executor: Executor): Promise<number> => {
  const row = await executor('app_suspensions').count<{ count: number }>('* as count').first();
  return row?.count ?? 0;
};

/** Cuts off every grant of a locked app, and schedules the end of its connections. */
export const endAccessOfApp = async (
  deps: { newId: typeof newId },
  trx: Transaction,
  { clientId, now }: { clientId: string; now: Date },
): Promise<void> => {
  await cutOffApp(deps, trx, { clientId, now });
  await insertSuspension(trx, clientId, now);
};

interface SuspensionsDeps {
  readonly transact: Transact;
  readonly clock: Clock;
  readonly newId: typeof newId;
  readonly items: FailingItems;
}

/** Picks up work left by a crashed replica, and failed work. */
const POLL_MS = 5 * SECOND_MS;

/**
 * Processes one batch of one suspension in one transaction, so that a crash neither loses nor repeats one and replicas
 * share the work. Sets aside a suspension that fails. Returns false if there is none.
 */
export const stepSuspension = async (deps: SuspensionsDeps): Promise<boolean> => {
  const outcome = await deps.items.attempt((claimed) =>
    deps.transact(async (trx) => {
      const clientId = await claimSuspension(trx, deps.items.setAside());
      if (clientId === undefined) return false;
      claimed(clientId);
      // A suspension or deletion that is under way would find this work scheduled, although it is about to be finished.
      await lockApp(trx, clientId);
      if (await endNextConnectionsOfApp(deps, trx, { clientId, now: deps.clock() })) return true;
      await finishSuspension(trx, clientId);
      return true;
    }),
  );
  return outcome !== false;
};

const finishSuspension = async (trx: Transaction, clientId: string): Promise<void> => {
  const deleted = await findDeletedApp(trx, clientId);
  if (deleted === undefined) {
    await deleteSuspension(trx, clientId);
    return;
  }
  if (!isOwned(deleted)) throw new Error('only registered apps are deleted by their owners');
  if (await forgetNextConnectionsOfApp(trx, clientId)) return;
  await appendToOutbox(trx, {
    subject: authEvents.appDeleted.subject,
    aggregate: appAggregate(clientId),
    version: deleted.version + 1,
    data: appFact(deleted),
  });
  await deleteAppRow(trx, clientId);
};

/** Starts ending the connections of suspended apps in the background. */
export const startSuspensions = (deps: SuspensionsDeps & { readonly logger: Logger }): PeriodicWork =>
  runPeriodically({
    name: 'suspensions',
    intervalMs: POLL_MS,
    run: async (signal) => {
      while (!signal.aborted && (await stepSuspension(deps)));
    },
    logger: deps.logger,
  });
