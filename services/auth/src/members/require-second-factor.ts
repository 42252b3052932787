import { recordAct } from '@svc/database';
import { type Act, AppError } from '@svc/service-kit';
import { findAccountById, updateProfile } from '../accounts/index.ts';
import { endActingSessions } from '../sessions/index.ts';
import type { Transact, Transaction } from '../transact.ts';
import { holdMembersWithoutFactor, listOrganizationsThatRequireFactor } from './queries.ts';
import { type Actor, lockOrganization, requireAuthority } from './require-actor.ts';

/**
 * Sets whether only members with a second factor may act for an organization. If so, the sessions of the others that act
 * for it end. Throws `organization_requires_second_factor` if the person who requires one has none.
 */
export const requireSecondFactor = (
  { transact }: { readonly transact: Transact },
  actor: Actor & { readonly act: Act },
  isRequired: boolean,
): Promise<void> =>
  transact(async (trx) => {
    const { organization, actor: membership } = await lockOrganization(trx, actor);
    requireAuthority(membership, { overOwners: false });
    const person = await findAccountById(trx, actor.personId);
    if (isRequired && person?.hasSecondFactor !== true) throw new AppError('organization_requires_second_factor');
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
