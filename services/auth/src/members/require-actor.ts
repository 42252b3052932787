import { AppError, requireRole } from '@svc/service-kit';
import { type AccountRecord, lockAccount } from '../accounts/index.ts';
import { type ActingMembership, findActingMembership, toActingFor } from '../memberships.ts';
import type { Transaction } from '../transact.ts';

/** A person who acts for an organization. */
export interface Actor {
  readonly organizationId: string;
  readonly personId: string;
}

/** A locked organization, and the present role of the person who acts for it. */
export interface LockedOrganization {
  readonly organization: AccountRecord;
  readonly actor: ActingMembership;
}

/**
 * Locks an organization until the transaction ends, so that changes of its members follow each other. Throws `invalid_token`
 * if the person no longer acts for it.
 */
export const lockOrganization = async (
  trx: Transaction,
  { organizationId, personId }: Actor,
): Promise<LockedOrganization> => {
  const organization = (await lockAccount(trx, organizationId))?.account;
  const actor = await findActingMembership(trx, { organizationId, userId: personId });
  if (organization === undefined || organization.eraseAt !== null || actor === undefined) {
    throw new AppError('invalid_token');
  }
  return { organization, actor };
};

/** Throws `role_not_allowed` unless the person has at least the role `admin`, or is an owner where owners are concerned. */
export const requireAuthority = (actor: ActingMembership, { overOwners }: { overOwners: boolean }): void =>
  requireRole(toActingFor(actor), overOwners ? 'owner' : 'admin');
