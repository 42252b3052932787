import type { newId } from '@svc/contracts';
import { lockAccount } from '../accounts/index.ts';
import {
  countOwners,
  foundersMembership,
  insertMembership,
  listMembershipsElsewhere,
  listMembershipsOfOrganization,
  type MembershipRecord,
} from '../memberships.ts';
import type { Transaction } from '../transact.ts';
import { changeRole, endMembership, requireAnotherOwner } from './end-membership.ts';

/** Memberships that end with access to a locked account. */
interface EndedMemberships {
  readonly account: { readonly id: string };
  /** Undefined if all end, else the time since which people joined. */
  readonly since: Date | undefined;
}

/**
 * Ends the account's memberships in other organizations. One that ends for distrust stays if the organization has no other
 * owner.
 */
export const endMembershipsElsewhere = async (
  trx: Transaction,
  { account, since }: EndedMemberships,
): Promise<void> => {
  for (const membership of await holdMembershipsElsewhere(trx, account.id)) {
    if (!isSince(membership, since)) continue;
    const isOnlyOwner = membership.role === 'owner' && (await countOwners(trx, membership.organizationId)) === 1;
    if (since === undefined || !isOnlyOwner) await endMembership(trx, membership);
  }
};

/** Locks the other organizations of an account, and returns its memberships as they are then. */
const holdMembershipsElsewhere = async (trx: Transaction, userId: string): Promise<MembershipRecord[]> => {
  for (const { organizationId } of await listMembershipsElsewhere(trx, userId)) await lockAccount(trx, organizationId);
  return await listMembershipsElsewhere(trx, userId);
};

/** Ends the memberships of other people in the organization that the account is, which owns itself again. */
export const endMembershipsOfOthers = async (
  deps: { readonly newId: typeof newId },
  trx: Transaction,
  { account, since, now }: EndedMemberships & { readonly now: Date },
): Promise<void> => {
  const memberships = await listMembershipsOfOrganization(trx, account.id);
  if (memberships.length === 0) return;
  const founder = memberships.find(({ userId }) => userId === account.id);
  if (founder === undefined) await insertMembership(trx, foundersMembership(deps, account.id, now));
  else if (founder.role !== 'owner') await changeRole(trx, founder, 'owner');
  for (const membership of memberships) {
    if (membership.userId !== account.id && isSince(membership, since)) await endMembership(trx, membership);
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
