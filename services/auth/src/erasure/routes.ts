import { routes } from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import {
  type Act,
  AppError,
  type Binding,
  bind,
  type Clock,
  type ConsoleSessionCaller,
  requireRole,
} from '@svc/service-kit';
import { findCredentialsById, redeemMailedToken, updateErasure } from '../accounts/index.ts';
import { originOf } from '../connections/index.ts';
import { type OwnerClaim, type ProveOwnerDeps, proveOwnerAfterStepUp } from '../credentials/index.ts';
import { voidMailedTokens } from '../mailed-tokens.ts';
import { findActingMembership, toActingFor } from '../memberships.ts';
import { requireOwnersElsewhere } from '../organizations/index.ts';
import { clearedSessionCookies, signInOriginOf } from '../sessions/index.ts';
import type { Transact, Transaction } from '../transact.ts';
import { nextDeletion, type ScheduleErasureDeps, scheduleErasure } from './schedule-erasure.ts';

interface RequestDeletionDeps extends ProveOwnerDeps, ScheduleErasureDeps {
  /** Time between the request and the erasure, in which the owner can cancel. */
  readonly erasureDelayMs: number;
}

/**
 * Schedules the erasure of an account, or of the organization for which the person acts, after proving who the person is.
 * Returns its time. Throws as `proveOwnerAfterStepUp`, `role_not_allowed`, and `last_owner` if another organization would
 * be left without an owner.
 */
const requestDeletion = async (deps: RequestDeletionDeps, claim: OwnerClaim, act: Act): Promise<Date> => {
  const owner = await proveOwnerAfterStepUp(deps, claim);
  const { userId, personId } = claim.caller;
  const eraseAt = await scheduleErasure(deps, {
    userId,
    requestedBy: personId,
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

/** Cancels the deletion of an account. Its apps stay deactivated. Throws `token_invalid`. */
const cancelDeletion = async (
  deps: { readonly transact: Transact; readonly clock: Clock },
  token: string,
): Promise<void> => {
  await deps.transact(async (trx) => {
    const { account } = await redeemMailedToken(trx, { purpose: 'cancel_deletion', token, now: deps.clock() });
    if (account.eraseAt === null) throw new AppError('token_invalid');
    const fact = nextDeletion(account);
    await updateErasure(trx, account.id, { eraseAt: null, deletionVersion: fact.version });
    await voidMailedTokens(trx, account.id, { purposes: ['cancel_deletion'] });
    await appendToOutbox(trx, fact.cancelled);
  });
};

/** Binds the routes of account deletion. */
export const erasureRoutes = (deps: RequestDeletionDeps & { readonly publicBaseUrl: string }): Binding[] => [
  bind(routes.deleteAccount, async (request) => {
    const { body, caller, act, res } = request;
    const origin = signInOriginOf(request, deps.publicBaseUrl);
    const eraseAt = await requestDeletion(deps, { caller, password: body?.password ?? undefined, ...origin }, act);
    res.appendHeader('set-cookie', clearedSessionCookies(deps.publicBaseUrl));
    return { status: 202, body: { erased_at: eraseAt.toISOString() } };
  }),
  bind(routes.cancelDeletion, async ({ body }) => {
    await cancelDeletion(deps, body.token);
    return { status: 204 };
  }),
];
