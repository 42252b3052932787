import { routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import { toActor } from '../members/index.ts';
import type { Executor } from '../transact.ts';
import { type AcceptInvitationDeps, acceptInvitation } from './accept-invitation.ts';
import { toInvitationJson } from './invitation.ts';
import { type InviteDeps, invite, withdrawInvitation } from './invite.ts';
import { listInvitationsOfOrganization } from './queries.ts';

/** Binds the routes of invitations. */
export const invitationRoutes = (
  deps: InviteDeps & AcceptInvitationDeps & { readonly database: Executor },
): Binding[] => [
  bind(routes.createInvitation, async ({ body, caller, act }) => {
    const invitation = await invite(deps, { ...toActor(caller), act }, body);
    return { status: 201, body: toInvitationJson(invitation) };
  }),
  bind(routes.listInvitations, async ({ caller }) => {
    const invitations = await listInvitationsOfOrganization(deps.database, caller.userId, deps.clock());
    return { status: 200, body: { data: invitations.map(toInvitationJson) } };
  }),
  bind(routes.withdrawInvitation, async ({ params, caller, act }) => {
    await withdrawInvitation(deps, { ...toActor(caller), act }, params.invitation_id);
    return { status: 204 };
  }),
  bind(routes.acceptInvitation, async ({ body, caller, act }) => {
    const organization = await acceptInvitation(deps, { token: body.token, personId: caller.personId, act });
    return { status: 200, body: { organization } };
  }),
];
