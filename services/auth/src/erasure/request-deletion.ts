import { type Act, AppError, type ConsoleSessionCaller, requireRole } from '@svc/service-kit';
import { findCredentialsById } from '../accounts/index.ts';
import { originOf } from '../connections/index.ts';
import { type OwnerClaim, type ProveOwnerDeps, proveOwnerAfterStepUp } from '../credentials/index.ts';
import { requireOwnersElsewhere } from '../members/index.ts';
import { findActingMembership, toActingFor } from '../memberships.ts';
import type { Transaction } from '../transact.ts';
import { type ScheduleErasureDeps, scheduleErasure } from './schedule-erasure.ts';

export interface RequestDeletionDeps extends ProveOwnerDeps, ScheduleErasureDeps {
  /** Time between the request and the erasure, in which the owner can cancel. */
  readonly erasureDelayMs: number;
}

/**
 * Schedules the erasure of an account, or of the organization for which the person acts, after proving who the person is.
 * Returns its time. Throws as `proveOwnerAfterStepUp`, `role_not_allowed`, and `last_owner` if another organization would
 * be left without an owner.
 */
export const requestDeletion = async (deps: RequestDeletionDeps, claim: OwnerClaim, act: Act): Promise<Date> => {
  const owner = await proveOwnerAfterStepUp(deps, claim);
  const { userId, personId } = claim.caller;
  const eraseAt = await scheduleErasure(deps, {
    userId,
    act,
    origin: originOf(claim.source, 'console'),
    delayMs: deps.erasureDelayMs,
    check: async (trx) => {
      const person = await findCredentialsById(trx, personId);
      // Another request changed the password after the check, so the check no longer proves the owner.
      if (person?.passwordHash !== owner.passwordHash) throw new AppError('wrong_password');
      if (person.account.accountType === 'business' || userId !== personId) await requireOwner(trx, claim.caller);
      await requireOwnersElsewhere(trx, userId);
    },
  });
  if (eraseAt === undefined) throw new AppError('invalid_token');
  return eraseAt;
};

/** Throws unless the person still is an owner of the organization for which they act. */
const requireOwner = async (trx: Transaction, { userId, personId }: ConsoleSessionCaller): Promise<void> => {
  const acting = await findActingMembership(trx, { organizationId: userId, userId: personId });
  if (acting === undefined) throw new AppError('invalid_token');
  requireRole(toActingFor(acting), 'owner');
};
