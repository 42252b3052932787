import type { newId } from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import { type Clock, type Logger, type PeriodicWork, runPeriodically } from '@svc/service-kit';
import { deleteAccount, listDueErasures, lockAccount } from '../accounts/index.ts';
import { deleteAppsOfOwner } from '../apps/index.ts';
import type { FailingItems } from '../failing-items.ts';
import { voidMailedTokens } from '../mailed-tokens.ts';
import { endMembershipsOfErased } from '../members/index.ts';
import { SECOND_MS } from '../time.ts';
import type { Executor, Transact } from '../transact.ts';
import { nextDeletion } from './deletion-fact.ts';

export interface ErasuresDeps {
  readonly database: Executor;
  readonly transact: Transact;
  readonly clock: Clock;
  readonly newId: typeof newId;
  readonly logger: Logger;
  readonly items: FailingItems;
}

const POLL_MS = SECOND_MS;
/** Accounts per round. */
const BATCH = 100;

/**
 * Runs the next step of an erasure in one transaction: deletes the apps first and, once they are gone with their
 * connections, the account with all personal data. The fact makes the other services erase theirs.
 */
const stepErasure = async (deps: ErasuresDeps, userId: string): Promise<void> => {
  const now = deps.clock();
  await deps.transact(async (trx) => {
    const account = (await lockAccount(trx, userId))?.account;
    if (account?.eraseAt == null || account.eraseAt > now) return;
    // From here on the deletion cannot be cancelled.
    await voidMailedTokens(trx, userId, { purposes: ['cancel_deletion', 'undo_email'] });
    if (!(await deleteAppsOfOwner(deps, trx, { ownerUserId: userId, now }))) return;
    await endMembershipsOfErased(trx, userId);
    await deleteAccount(trx, userId, now);
    await appendToOutbox(trx, nextDeletion(account).erased);
    // The log outlives a restore of every database.
    deps.logger.audit({ component: 'erasures', target: userId }, 'an account was erased');
  });
};

/**
 * Starts erasing accounts that are due. Replicas may process the same ones. `wakeSuspensions` ends the connections of
 * deleted apps.
 */
export const startErasures = (deps: ErasuresDeps, wakeSuspensions: () => void): PeriodicWork =>
  runPeriodically({
    name: 'erasures',
    intervalMs: POLL_MS,
    run: async (signal) => {
      const { database, clock, items } = deps;
      for (const userId of await listDueErasures(database, { now: clock(), limit: BATCH, except: items.setAside() })) {
        if (signal.aborted) return;
        await items.attempt(async (claimed) => {
          claimed(userId);
          await stepErasure(deps, userId);
        });
        wakeSuspensions();
      }
    },
    logger: deps.logger,
  });
