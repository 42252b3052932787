import { authEvents } from '@svc/contracts';
import { recordAct } from '@svc/database';
import { appendToOutbox } from '@svc/messaging';
import type { Act } from '@svc/service-kit';
import {
  type AccountRecord,
  type AccountWithPassword,
  findAccountById,
  lockAccount,
  mailDeletion,
  updateErasure,
} from '../accounts/index.ts';
import { suspendAppsOfOwner } from '../apps/index.ts';
import type { Origin } from '../connections/index.ts';
import { endAccess } from '../credentials/index.ts';
import type { MailOutboxDeps } from '../mail/index.ts';
import { findActing } from '../sessions/index.ts';
import { later } from '../time.ts';
import type { Transact, Transaction } from '../transact.ts';

/** Returns the next fact about the deletion of a locked account. */
export const nextDeletion = ({ id, deletionVersion }: AccountRecord) => {
  const version = deletionVersion + 1;
  const about = { aggregate: `account_deletion:${id}`, version };
  return {
    version,
    requested: (eraseAt: Date) => ({
      ...about,
      subject: authEvents.accountDeletionRequested.subject,
      data: { svc_user_id: id, erased_at: eraseAt.toISOString() },
    }),
    cancelled: { ...about, subject: authEvents.accountDeletionCancelled.subject, data: { svc_user_id: id } },
    erased: { ...about, subject: authEvents.accountErased.subject, data: { svc_user_id: id } },
  };
};

export interface ScheduleErasureDeps extends MailOutboxDeps {
  readonly transact: Transact;
  /** Wakes the workers that end the connections of apps and erase accounts. */
  readonly wakeErasure: () => void;
}

export interface ErasureRequest {
  readonly userId: string;
  readonly origin: Origin;
  /** With 0 the account is erased at once, and the owner cannot cancel. */
  readonly delayMs: number;
  /** Throws if the locked account may not be erased. */
  readonly check?: (trx: Transaction, locked: AccountWithPassword) => Promise<void>;
  /** Person who asks for it, and gets a link to cancel it too. */
  readonly requestedBy?: string;
  /** Recorded unless the erasure is scheduled already. */
  readonly act?: Act;
}

/**
 * Ends all access to an account, deactivates its apps and schedules its erasure. Returns its time, which another
 * request can only bring forward; undefined if there is no such account.
 */
export const scheduleErasure = async (
  deps: ScheduleErasureDeps,
  { userId, origin, delayMs, check, requestedBy, act }: ErasureRequest,
): Promise<Date | undefined> => {
  const now = deps.clock();
  const scheduled = await deps.transact(async (trx) => {
    // Locks apps before their owner, as consents do.
    await suspendAppsOfOwner(deps, trx, { ownerUserId: userId, now });
    const locked = await lockAccount(trx, userId);
    if (locked === undefined) return undefined;
    await check?.(trx, locked);
    const account = { ...locked.account, eraseAt: later(now, delayMs) };
    if (locked.account.eraseAt !== null && locked.account.eraseAt <= account.eraseAt) {
      act?.changedNothing();
      return locked.account.eraseAt;
    }
    const fact = nextDeletion(account);
    await updateErasure(trx, userId, { eraseAt: account.eraseAt, deletionVersion: fact.version });
    await endAccess(deps, trx, { account, origin, now, endings: ['deletion'] });
    if (act !== undefined) await recordAct(trx, act, { type: 'organization', id: userId, name: account.businessName });
    if (delayMs > 0) await mailOwners(deps, trx, { account, requestedBy });
    await appendToOutbox(trx, fact.requested(account.eraseAt));
    return account.eraseAt;
  });
  deps.wakeErasure();
  return scheduled;
};

/**
 * Mails the link that cancels a deletion to the account, unless it is an organization from which its own sign-in was removed,
 * and to the owner who asked for it.
 */
const mailOwners = async (
  deps: MailOutboxDeps,
  trx: Transaction,
  { account, requestedBy }: { account: AccountRecord & { eraseAt: Date }; requestedBy: string | undefined },
): Promise<void> => {
  if ((await findActing(trx, { organizationId: null }, account)) !== undefined) await mailDeletion(deps, trx, account);
  if (requestedBy === undefined || requestedBy === account.id) return;
  const owner = await findAccountById(trx, requestedBy);
  if (owner !== undefined) await mailDeletion(deps, trx, account, owner);
};
