import type { Membership, newId, OrganizationJson, Role } from '@svc/contracts';
import type { ActingFor } from '@svc/service-kit';

/** A person's place in an organization, as stored. */
export interface MembershipRecord {
  readonly id: string;
  /** Business account that is the organization. */
  readonly organizationId: string;
  readonly userId: string;
  readonly role: Role;
  /** Grows with each change of the role. */
  readonly version: number;
  readonly joinedAt: Date;
}

/** An organization and a person. */
export interface MembershipKey {
  readonly organizationId: string;
  readonly userId: string;
}

/** The organization that a person acts for. */
export interface ActingMembership {
  readonly organizationId: string;
  readonly name: string;
  readonly membershipId: string;
  readonly role: Role;
  readonly version: number;
}

/** Creates the first membership of an organization: that of the account which is the organization. */
export const foundersMembership = (
  deps: { readonly newId: typeof newId },
  organizationId: string,
  now: Date,
): MembershipRecord => ({
  id: deps.newId('mem', now.getTime()),
  organizationId,
  userId: organizationId,
  role: 'owner',
  version: 1,
  joinedAt: now,
});

export const toOrganizationJson = (acting: ActingMembership | null): OrganizationJson | null =>
  acting === null ? null : { id: acting.organizationId, name: acting.name, role: acting.role };

export const toActingFor = (acting: ActingMembership): ActingFor => ({
  id: acting.organizationId,
  role: acting.role,
  membershipId: acting.membershipId,
  version: acting.version,
});

export const toMembershipJson = (membership: Omit<MembershipRecord, 'joinedAt'>): Membership => ({
  id: membership.id,
  organization_id: membership.organizationId,
  svc_user_id: membership.userId,
  role: membership.role,
  version: membership.version,
});
