import type { Role } from '@svc/contracts';
import { recordAct } from '@svc/database';
import { type Act, AppError } from '@svc/service-kit';
import { updateProfile } from '../accounts/index.ts';
import { findMembership } from '../memberships.ts';
import { endActingSessions } from '../sessions/index.ts';
import type { Transact, Transaction } from '../transact.ts';
import { changeRole, endMembership, requireAnotherOwner } from './end-memberships.ts';
import {
  type Actor,
  findMember,
  holdMembersWithoutFactor,
  listOrganizationsThatRequireFactor,
  lockOrganization,
  type MemberRecord,
  requireAuthority,
} from './members.ts';

/** A member of the organization for which a person acts. */
interface MemberChange extends Actor {
  /** The member to change. */
  readonly userId: string;
  readonly act: Act;
}

interface MemberDeps {
  readonly transact: Transact;
}

/** Changes the role of a member. Throws `not_found`, `role_not_allowed` and `last_owner`. */
export const updateMember = ({ transact }: MemberDeps, change: MemberChange, role: Role): Promise<MemberRecord> =>
  transact(async (trx) => {
    const { actor } = await lockOrganization(trx, change);
    requireAuthority(actor, { overOwners: role === 'owner' });
    const membership = await findMembership(trx, change);
    if (membership === undefined) throw new AppError('not_found');
    requireAuthority(actor, { overOwners: membership.role === 'owner' });
    if (membership.role === role) change.act.changedNothing();
    else {
      await requireAnotherOwner(trx, membership);
      await changeRole(trx, membership, role);
      await recordAct(trx, change.act, { type: 'member', id: change.userId, name: null });
    }
    const member = await findMember(trx, change);
    if (member === undefined) throw new Error('a member of a locked organization vanished');
    return member;
  });

/** Removes a member; every member may leave. Throws `not_found`, `role_not_allowed` and `last_owner`. */
export const removeMember = ({ transact }: MemberDeps, change: MemberChange): Promise<void> =>
  transact(async (trx) => {
    const { actor } = await lockOrganization(trx, change);
    const isLeaving = change.userId === change.personId;
    const membership = await findMembership(trx, change);
    if (!isLeaving) requireAuthority(actor, { overOwners: membership?.role === 'owner' });
    if (membership === undefined) throw new AppError('not_found');
    await requireAnotherOwner(trx, membership);
    await endMembership(trx, membership);
    await recordAct(trx, change.act, { type: 'member', id: change.userId, name: null });
  });

/**
 * Sets whether only members with a second factor may act for an organization. If so, the sessions of the others that act
 * for it end, that of the person who requires it included. The own sign-in of the organization is not affected.
 */
export const requireSecondFactor = (
  { transact }: { readonly transact: Transact },
  actor: Actor & { readonly act: Act },
  isRequired: boolean,
): Promise<void> =>
  transact(async (trx) => {
    const { organization, actor: membership } = await lockOrganization(trx, actor);
    requireAuthority(membership, { overOwners: false });
    if (organization.requiresSecondFactor === isRequired) {
      actor.act.changedNothing();
      return;
    }
    const { organizationId } = actor;
    await updateProfile(trx, organizationId, { requiresSecondFactor: isRequired });
    await recordAct(trx, actor.act, { type: 'settings', id: null, name: `second_factor_required=${isRequired}` });
    if (!isRequired) return;
    const members = await holdMembersWithoutFactor(trx, organizationId);
    for (const userId of members) await endActingSessions(trx, { organizationId, userId });
  });

/** Ends the sessions in which a locked account without a second factor acts for organizations that require one. */
export const endActingWithoutFactor = async (trx: Transaction, userId: string): Promise<void> => {
  for (const organizationId of await listOrganizationsThatRequireFactor(trx, userId)) {
    await endActingSessions(trx, { organizationId, userId });
  }
};
