import { authEvents, isRoleEnough, keyVersionText, type newId, type Role } from '@svc/contracts';
import { listActs, type RecordableAct, recordAct } from '@svc/database';
import { appendToOutbox } from '@svc/messaging';
import { AppError } from '@svc/service-kit';
import { lockAccount } from '../accounts/index.ts';
import { voidMailedTokens } from '../mailed-tokens.ts';
import { endManagementKeysOfCreator } from '../management-keys/index.ts';
import {
  countOwners,
  deleteMembership,
  foundersMembership,
  insertMembership,
  listMembershipsElsewhere,
  listMembershipsOfOrganization,
  type MembershipRecord,
  updateRole,
} from '../memberships.ts';
import { endActingSessions } from '../sessions/index.ts';
import type { Transaction } from '../transact.ts';

/** Links that lead into an account, mailed to the person of an organization's own sign-in. */
const LINKS_OF_OWN_SIGN_IN = [
  'verify_email',
  'reset_password',
  'confirm_email',
  'undo_email',
  'link_identity',
] as const;

/**
 * Ends a membership of a locked organization, with the sessions in which the person acts for it and the management keys
 * that the person has created for it. Other services ask for the present role of tokens that name the membership, and
 * find none.
 */
export const endMembership = async (trx: Transaction, membership: MembershipRecord): Promise<void> => {
  const { id, organizationId, userId } = membership;
  await deleteMembership(trx, id);
  await endActingSessions(trx, membership);
  if (organizationId === userId) await voidMailedTokens(trx, userId, { purposes: LINKS_OF_OWN_SIGN_IN });
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
 * for the present role of tokens that name an earlier version. A role that may not create management keys keeps none.
 */
export const changeRole = async (trx: Transaction, membership: MembershipRecord, role: Role): Promise<void> => {
  await updateRole(trx, { id: membership.id, role });
  await appendToOutbox(trx, supersededBy(membership));
  // Tokens from before the upgrade of a personal account name no membership.
  const isFounder = membership.organizationId === membership.userId;
  if (isFounder) await endActingSessions(trx, membership, membership.joinedAt);
  if (!isRoleEnough(role, 'admin')) await endManagementKeysOfCreator(trx, membership);
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

/** Memberships that end with access to a locked account. */
interface EndedMemberships {
  readonly account: { readonly id: string };
  /** Source of the request that ends them. */
  readonly origin: { readonly clientKind: string };
  /** Undefined if all end, else the time since which people joined. */
  readonly since: Date | undefined;
}

/**
 * Ends the account's memberships in other organizations. One that ends for distrust stays if the organization has no other
 * owner.
 */
export const endMembershipsElsewhere = async (trx: Transaction, ended: EndedMemberships): Promise<void> => {
  const { account, since } = ended;
  for (const membership of await holdMembershipsElsewhere(trx, account.id)) {
    if (!isSince(membership, since)) continue;
    const isOnlyOwner = membership.role === 'owner' && (await countOwners(trx, membership.organizationId)) === 1;
    if (since === undefined || !isOnlyOwner) await endMembershipWithAccess(trx, membership, ended);
  }
};

/** Ends a membership with the access to an account. The log of the organization names the account, or the operator. */
const endMembershipWithAccess = async (
  trx: Transaction,
  membership: MembershipRecord,
  { account, origin }: EndedMemberships,
): Promise<void> => {
  const { organizationId, userId } = membership;
  await endMembership(trx, membership);
  const isOperator = origin.clientKind === 'service';
  const act: RecordableAct = {
    action: 'member.removed',
    organizationId,
    actorId: isOperator ? null : account.id,
    source: isOperator ? 'operator' : 'console',
    isRecorded: false,
  };
  await recordAct(trx, act, { type: 'member', id: userId, name: null });
};

/** Locks the other organizations of an account, and returns its memberships as they are then. */
const holdMembershipsElsewhere = async (trx: Transaction, userId: string): Promise<MembershipRecord[]> => {
  for (const { organizationId } of await listMembershipsElsewhere(trx, userId)) await lockAccount(trx, organizationId);
  return await listMembershipsElsewhere(trx, userId);
};

/** Acts that are searched for a change of one role. */
const ROLE_CHANGES_MAX = 1_000;

/** Returns true if the role of the account that opened an organization was changed since a time. */
export const hasOwnRoleChangedSince = async (
  trx: Transaction,
  organizationId: string,
  since: Date,
): Promise<boolean> => {
  const filter = { action: 'member.role_changed', from: since, limit: ROLE_CHANGES_MAX } as const;
  return (await listActs(trx, organizationId, filter)).some(({ target }) => target.id === organizationId);
};

/**
 * Ends the memberships of other people in the organization that the account is. It owns itself again, unless it had given
 * that up before the time since which it is distrusted.
 */
export const endMembershipsOfOthers = async (
  deps: { readonly newId: typeof newId },
  trx: Transaction,
  ended: EndedMemberships & { readonly now: Date },
): Promise<void> => {
  const { account, since, now } = ended;
  const memberships = await listMembershipsOfOrganization(trx, account.id);
  if (memberships.length === 0) return;
  const founder = memberships.find(({ userId }) => userId === account.id);
  if (founder === undefined) await insertMembership(trx, foundersMembership(deps, account.id, now));
  else if (
    founder.role !== 'owner' &&
    (since === undefined || (await hasOwnRoleChangedSince(trx, account.id, since)))
  ) {
    await changeRole(trx, founder, 'owner');
  }
  for (const membership of memberships) {
    if (membership.userId === account.id || !isSince(membership, since)) continue;
    await endMembershipWithAccess(trx, membership, ended);
  }
};

/** Ends every membership of an organization that is about to be erased. */
export const endMembershipsOfErased = async (trx: Transaction, organizationId: string): Promise<void> => {
  for (const membership of await listMembershipsOfOrganization(trx, organizationId)) {
    await endMembership(trx, membership);
  }
};

/** Throws `last_owner` if a locked account is the only owner of another organization. */
export const requireOwnersElsewhere = async (trx: Transaction, userId: string): Promise<void> => {
  for (const membership of await holdMembershipsElsewhere(trx, userId)) await requireAnotherOwner(trx, membership);
};

const isSince = ({ joinedAt }: MembershipRecord, since: Date | undefined): boolean =>
  since === undefined || joinedAt >= since;
