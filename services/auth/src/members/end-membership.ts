import { authEvents, keyVersionText, type Role } from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import { AppError } from '@svc/service-kit';
import { endManagementKeysOfCreator } from '../management-keys/index.ts';
import { countOwners, deleteMembership, type MembershipRecord, updateRole } from '../memberships.ts';
import { endActingSessions } from '../sessions/index.ts';
import type { Transaction } from '../transact.ts';

/**
 * Ends a membership of a locked organization, with the sessions in which the person acts for it and the management keys
 * that the person has created for it. Other services ask for the present role of tokens that name the membership, and find none.
 */
export const endMembership = async (trx: Transaction, membership: MembershipRecord): Promise<void> => {
  const { id, organizationId, userId } = membership;
  await deleteMembership(trx, id);
  await endActingSessions(trx, membership);
  await endManagementKeysOfCreator(trx, membership);
  await appendToOutbox(trx, supersededBy(membership), {
    subject: authEvents.memberRemoved.subject,
    aggregate: `membership:${id}`,
    version: 1,
    data: { organization_id: organizationId, membership_id: id, svc_user_id: userId },
  });
};

/**
 * Changes the role of a member of a locked organization: here at once, in other services within a second, because they ask
 * for the present role of tokens that name an earlier version.
 */
export const changeRole = async (trx: Transaction, membership: MembershipRecord, role: Role): Promise<void> => {
  await updateRole(trx, { id: membership.id, role });
  await appendToOutbox(trx, supersededBy(membership));
  // Tokens from before the upgrade of a personal account name no membership.
  const isFounder = membership.organizationId === membership.userId;
  if (isFounder) await endActingSessions(trx, membership, membership.joinedAt);
};

const supersededBy = ({ id, version }: MembershipRecord) => ({
  revocation: { key: `member.${id}`, value: { revoked_through: keyVersionText(version) } },
});

/** Throws `last_owner` if this member is the only owner of a locked organization. */
export const requireAnotherOwner = async (
  trx: Transaction,
  { organizationId, role }: MembershipRecord,
): Promise<void> => {
  if (role === 'owner' && (await countOwners(trx, organizationId)) === 1) throw new AppError('last_owner');
};
