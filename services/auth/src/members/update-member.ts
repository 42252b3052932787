import type { Role } from '@svc/contracts';
import { recordAct } from '@svc/database';
import { type Act, AppError } from '@svc/service-kit';
import { findMembership } from '../memberships.ts';
import type { Transact } from '../transact.ts';
import { changeRole, endMembership, requireAnotherOwner } from './end-membership.ts';
import { findMember, type MemberRecord } from './queries.ts';
import { type Actor, lockOrganization, requireAuthority } from './require-actor.ts';

/** A member of the organization for which a person acts. */
export interface MemberChange extends Actor {
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
    if (!isLeaving) requireAuthority(actor, { overOwners: false });
    const membership = await findMembership(trx, change);
    if (membership === undefined) throw new AppError('not_found');
    if (!isLeaving) requireAuthority(actor, { overOwners: membership.role === 'owner' });
    await requireAnotherOwner(trx, membership);
    await endMembership(trx, membership);
    await recordAct(trx, change.act, { type: 'member', id: change.userId, name: null });
  });
