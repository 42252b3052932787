import type { InspectedOrganization } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import { findAccountById } from '../accounts/index.ts';
import type { Executor } from '../transact.ts';
import { toSeatlessMemberJson } from './member-json.ts';
import { listMembersOfOrganization } from './queries.ts';

/** Returns an organization with its members, for an operator. Throws `not_found`, also for a personal account. */
export const showOrganization = async (
  { database }: { readonly database: Executor },
  organizationId: string,
): Promise<InspectedOrganization> => {
  const organization = await findAccountById(database, organizationId);
  if (organization?.accountType !== 'business') throw new AppError('not_found');
  const members = await listMembersOfOrganization(database, organizationId);
  return {
    svc_user_id: organizationId,
    name: organization.businessName ?? organization.email,
    second_factor_required: organization.requiresSecondFactor,
    erased_at: organization.eraseAt?.toISOString() ?? null,
    members: members.map(toSeatlessMemberJson),
  };
};
