import type { newId, OrganizationJson } from '@svc/contracts';
import { recordAct } from '@svc/database';
import { type Act, AppError, type Clock } from '@svc/service-kit';
import { lockAccount, markVerified } from '../accounts/index.ts';
import { findActingMembership, insertMembership, toOrganizationJson } from '../memberships/index.ts';
import type { Transact } from '../transact.ts';
import { invitationDigest } from './invitation.ts';
import { findInvitationByDigest, takeInvitation } from './queries.ts';

export interface AcceptInvitationDeps {
  readonly transact: Transact;
  readonly clock: Clock;
  readonly newId: typeof newId;
}

/**
 * Makes a person a member of the organization of a mailed link, and uses the link up. A member keeps the present role. The
 * link proves the address, to which it was mailed. Throws `token_invalid`, and `invitation_for_another` if the account has
 * another address.
 */
export const acceptInvitation = (
  deps: AcceptInvitationDeps,
  { token, personId, act }: { token: string; personId: string; act: Act },
): Promise<OrganizationJson> =>
  deps.transact(async (trx) => {
    const now = deps.clock();
    const found = await findInvitationByDigest(trx, { digest: invitationDigest(token), now });
    if (found === undefined) throw new AppError('token_invalid');
    const { id, organizationId, role } = found;
    const organization = (await lockAccount(trx, organizationId))?.account;
    if (organization === undefined || organization.eraseAt !== null) throw new AppError('token_invalid');
    const account = (await lockAccount(trx, personId))?.account;
    if (account === undefined || account.eraseAt !== null) throw new AppError('invalid_token');
    if (account.email !== found.email) throw new AppError('invitation_for_another');
    // Another request may have used the link before the organization was locked.
    if ((await takeInvitation(trx, { id, organizationId, now })) === undefined) throw new AppError('token_invalid');
    await markVerified(trx, account, now);
    const membership = { id: deps.newId('mem', now.getTime()), organizationId, userId: personId, role };
    await insertMembership(trx, { ...membership, version: 1, joinedAt: now });
    await recordAct(trx, act, { type: 'member', id: personId, name: null, organizationId });
    const acting = await findActingMembership(trx, { organizationId, userId: personId });
    const joined = toOrganizationJson(acting ?? null);
    if (joined === null) throw new Error('a new member of a locked organization vanished');
    return joined;
  });
