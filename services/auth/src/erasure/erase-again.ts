import { randomUUID } from 'node:crypto';
import { authEvents } from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import { findAccountById, listErasuresSince } from '../accounts/index.ts';
import type { BillingClient } from '../billing-client.ts';
import { OWN_ORIGIN } from '../connections/index.ts';
import { DAY_MS, later } from '../time.ts';
import type { Executor, Transact } from '../transact.ts';
import { type ScheduleErasureDeps, scheduleErasure } from './schedule-erasure.ts';

/** A fact may have waited for its consumer, and clocks differ. An account that was not restored is skipped anyway. */
const MARGIN_MS = DAY_MS;
/** Facts per transaction. */
const BATCH = 500;

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
    const userIds = await listErasuresSince(deps.database, { since, after, limit: BATCH });
    await deps.transact((trx) => appendToOutbox(trx, ...userIds.map(erasedAgain)));
    announced += userIds.length;
    after = userIds.at(-1);
    isLast = userIds.length < BATCH;
  }
  return announced;
};

const erasedAgain = (userId: string) => ({
  subject: authEvents.accountErased.subject,
  aggregate: `erasure_announcement:${randomUUID()}`,
  version: 1,
  data: { svc_user_id: userId },
});
