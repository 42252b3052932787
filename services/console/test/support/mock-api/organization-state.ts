import type { Account } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import type { Membership, MockState, Organization } from './state.ts';

/** Finds an account by its id. */
const accountById = (state: MockState, userId: string): Account | undefined =>
  [...state.accounts.values()].find(({ account }) => account.svc_user_id === userId)?.account;

/** Returns the name of a person or business; null once the account is erased. */
export const nameOf = (state: MockState, userId: string): string | null => {
  const account = accountById(state, userId);
  return account === undefined ? null : (account.business_name ?? account.display_name ?? account.email);
};

/** Returns the organization of a business account. At first its only member is the account itself, as owner. */
export const organizationOf = (state: MockState, id: string): Organization => {
  const found = state.organizations.get(id);
  if (found !== undefined) return found;
  const account = accountById(state, id);
  if (account?.account_type !== 'business') throw new AppError('not_found');
  const created: Organization = {
    id,
    name: account.business_name ?? account.email,
    memberships: [{ userId: id, role: 'owner', joinedAt: account.created_at, seat: null }],
    invitations: [],
    isSecondFactorRequired: false,
    seats: new Map(),
    limits: new Map(),
    acts: [],
  };
  state.organizations.set(id, created);
  return created;
};

/** Returns the membership of a person; undefined for a stranger. */
export const membershipOf = (organization: Organization, userId: string): Membership | undefined =>
  organization.memberships.find((membership) => membership.userId === userId);

/** Returns an account as its owner sees it, with the organization that a token acts for. */
export const accountFor = (state: MockState, account: Account, organizationId?: string): Account => {
  const id = organizationId ?? (account.account_type === 'business' ? account.svc_user_id : undefined);
  if (id === undefined) return { ...account, organization: null };
  const organization = organizationOf(state, id);
  const role = membershipOf(organization, account.svc_user_id)?.role ?? 'owner';
  return { ...account, organization: { id, name: organization.name, role } };
};
