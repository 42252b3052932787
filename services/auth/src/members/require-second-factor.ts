import { recordAct } from '@svc/database';
import type { Act } from '@svc/service-kit';
import { updateProfile } from '../accounts/index.ts';
import { endActingSessions } from '../sessions/index.ts';
import type { Transact, Transaction } from '../transact.ts';
import { holdMembersWithoutFactor, listOrganizationsThatRequireFactor } from './queries.ts';
import { type Actor, lockOrganization, requireAuthority } from './require-actor.ts';

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
