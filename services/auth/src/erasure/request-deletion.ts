import { appendToOutbox } from '@svc/messaging';
import { AppError } from '@svc/service-kit';
import { lockAccount, mailDeletion, updateErasure } from '../accounts/index.ts';
import { suspendAppsOfOwner } from '../apps/index.ts';
import { originOf } from '../connections/index.ts';
import {
  endAccountAccess,
  type OwnerClaim,
  type ProveOwnerDeps,
  proveOwnerOrFreshSignIn,
} from '../credentials/index.ts';
import type { MailOutboxDeps } from '../mail/index.ts';
import { voidMailedTokens } from '../mailed-tokens/index.ts';
import { later } from '../time.ts';
import type { Transact } from '../transact.ts';
import { nextDeletion } from './deletion-fact.ts';

export interface RequestDeletionDeps extends ProveOwnerDeps, MailOutboxDeps {
  readonly transact: Transact;
  /** Time between the request and the erasure, in which the owner can cancel. */
  readonly erasureDelayMs: number;
  /** Wakes the workers that end the connections of apps and erase accounts. */
  readonly wakeErasure: () => void;
}

/**
 * Ends all access to an account, deactivates its apps and has it erased after the delay. Returns the time of the erasure.
 * Throws as `proveOwnerOrFreshSignIn`.
 */
export const requestDeletion = async (deps: RequestDeletionDeps, claim: OwnerClaim): Promise<Date> => {
  const owner = await proveOwnerOrFreshSignIn(deps, claim);
  const ownerUserId = owner.account.id;
  const now = deps.clock();
  const eraseAt = await deps.transact(async (trx) => {
    // Apps before their owner, as consents lock them.
    await suspendAppsOfOwner(deps, trx, { ownerUserId, now });
    const locked = await lockAccount(trx, ownerUserId);
    if (locked === undefined) throw new AppError('invalid_token');
    // Another request changed the password since it was checked, so it no longer proves the owner.
    if (locked.passwordHash !== owner.passwordHash) throw new AppError('wrong_password');
    if (locked.account.eraseAt !== null) return locked.account.eraseAt;
    // One may have been registered before the account was locked.
    await suspendAppsOfOwner(deps, trx, { ownerUserId, now });
    const account = { ...locked.account, eraseAt: later(now, deps.erasureDelayMs) };
    const fact = nextDeletion(account);
    await updateErasure(trx, ownerUserId, { eraseAt: account.eraseAt, deletionVersion: fact.version });
    await voidMailedTokens(trx, ownerUserId, { purposes: ['verify_email', 'reset_password', 'confirm_email'] });
    if (deps.erasureDelayMs > 0) await mailDeletion(deps, trx, account);
    const origin = originOf(claim.source, 'console');
    await endAccountAccess(deps, trx, { account, origin, now, keepAccess: false });
    await appendToOutbox(trx, fact.requested(account.eraseAt));
    return account.eraseAt;
  });
  deps.wakeErasure();
  return eraseAt;
};
