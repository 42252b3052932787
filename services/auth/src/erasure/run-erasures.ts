import { randomUUID } from 'node:crypto';
import { authEvents, type newId } from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import { type Clock, type Logger, type PeriodicWork, runPeriodically } from '@svc/service-kit';
import { deleteAccount, findAccountById, listDueErasures, listErasuresSince, lockAccount } from '../accounts/index.ts';
import { deleteAppsOfOwner } from '../apps/index.ts';
import type { BillingClient } from '../billing-client.ts';
import { OWN_ORIGIN } from '../connections/index.ts';
import type { FailingItems } from '../failing-items.ts';
import { deleteMailsTo } from '../mail/index.ts';
import { voidMailedTokens } from '../mailed-tokens.ts';
import { endMembershipsOfErased } from '../organizations/index.ts';
import { DAY_MS, later, SECOND_MS } from '../time.ts';
import type { Executor, Transact } from '../transact.ts';
import { nextDeletion, type ScheduleErasureDeps, scheduleErasure } from './schedule-erasure.ts';

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
    await deleteMailsTo(trx, account.email);
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

/** A fact may have waited for its consumer, and clocks differ. An account that was not restored is skipped anyway. */
const MARGIN_MS = DAY_MS;
/** Facts per transaction. */
const ANNOUNCED_TOGETHER = 500;

export interface EraseAgainDeps extends ScheduleErasureDeps {
  readonly database: Executor;
  readonly billing: Pick<BillingClient, 'listErasedAccounts'>;
}

/**
 * Erases the accounts again that were erased after the moment to which this database was restored. Billing remembers
 * their ids. Returns the number of accounts. Throws `service_unavailable`.
 */
export const eraseAgain = async (deps: EraseAgainDeps, restoredTo: Date): Promise<number> => {
  const since = later(restoredTo, -MARGIN_MS);
  let erased = 0;
  for (let after: string | undefined, isLast = false; !isLast; ) {
    const page = await deps.billing.listErasedAccounts({ since, after });
    for (const userId of page.data) {
      if ((await findAccountById(deps.database, userId)) === undefined) continue;
      await scheduleErasure(deps, { userId, origin: OWN_ORIGIN, delayMs: 0 });
      erased += 1;
    }
    after = page.data.at(-1);
    isLast = !page.has_more;
  }
  return erased;
};

/**
 * Publishes the facts of erasures since a moment again, for a service that was restored to it. Each gets an aggregate of
 * its own: it follows no other fact about the account. Returns their number.
 */
export const announceErasures = async (
  deps: { readonly database: Executor; readonly transact: Transact },
  since: Date,
): Promise<number> => {
  let announced = 0;
  for (let after: string | undefined, isLast = false; !isLast; ) {
    const userIds = await listErasuresSince(deps.database, { since, after, limit: ANNOUNCED_TOGETHER });
    await deps.transact((trx) => appendToOutbox(trx, ...userIds.map(erasedAgain)));
    announced += userIds.length;
    after = userIds.at(-1);
    isLast = userIds.length < ANNOUNCED_TOGETHER;
  }
  return announced;
};

const erasedAgain = (userId: string) => ({
  subject: authEvents.accountErased.subject,
  aggregate: `erasure_announcement:${randomUUID()}`,
  version: 1,
  data: { svc_user_id: userId },
});
