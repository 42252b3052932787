import { AppError } from '@svc/service-kit';
import { originOf } from '../connections/index.ts';
import { type OwnerClaim, type ProveOwnerDeps, proveOwnerAfterStepUp } from '../credentials/index.ts';
import { type ScheduleErasureDeps, scheduleErasure } from './schedule-erasure.ts';

export interface RequestDeletionDeps extends ProveOwnerDeps, ScheduleErasureDeps {
  /** Time between the request and the erasure, in which the owner can cancel. */
  readonly erasureDelayMs: number;
}

/**
 * Schedules the erasure of an account after proving its owner. Returns its time. Throws as `proveOwnerAfterStepUp`.
 */
export const requestDeletion = async (deps: RequestDeletionDeps, claim: OwnerClaim): Promise<Date> => {
  const owner = await proveOwnerAfterStepUp(deps, claim);
  const eraseAt = await scheduleErasure(deps, {
    userId: owner.account.id,
    origin: originOf(claim.source, 'console'),
    delayMs: deps.erasureDelayMs,
    check: ({ passwordHash }) => {
      // Another request changed the password after the check, so the check no longer proves the owner.
      if (passwordHash !== owner.passwordHash) throw new AppError('wrong_password');
    },
  });
  if (eraseAt === undefined) throw new AppError('invalid_token');
  return eraseAt;
};
