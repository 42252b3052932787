import { internalRoutes, routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import { findAccountById } from '../accounts/index.ts';
import type { BillingClient } from '../billing-client.ts';
import { findMembershipsByIds, toMembershipJson } from '../memberships.ts';
import type { Executor, Transact } from '../transact.ts';
import { listMembersOfOrganization, toActor, toMemberJson, toSeatlessMemberJson } from './members.ts';
import { removeMember, requireSecondFactor, updateMember } from './update-member.ts';

interface MemberRoutesDeps {
  readonly database: Executor;
  readonly transact: Transact;
  readonly billing: Pick<BillingClient, 'listSeats'>;
}

/** Binds the routes of members and of the rules for them. */
export const memberRoutes = (deps: MemberRoutesDeps): Binding[] => [
  bind(routes.listMembers, async ({ caller }) => {
    const seats = await deps.billing.listSeats(caller.userId);
    const members = await listMembersOfOrganization(deps.database, caller.userId);
    return { status: 200, body: { data: members.map((member) => toMemberJson(member, seats)) } };
  }),
  bind(routes.updateMember, async ({ params, body, caller, act }) => {
    // Read first: without billing, the change could not be answered.
    const seats = await deps.billing.listSeats(caller.userId);
    const change = { ...toActor(caller), userId: params.svc_user_id, act };
    return { status: 200, body: toMemberJson(await updateMember(deps, change, body.role), seats) };
  }),
  bind(routes.removeMember, async ({ params, caller, act }) => {
    await removeMember(deps, { ...toActor(caller), userId: params.svc_user_id, act });
    return { status: 204 };
  }),
  bind(routes.getOrganizationSettings, async ({ caller }) => {
    const organization = await findAccountById(deps.database, caller.userId);
    return { status: 200, body: { second_factor_required: organization?.requiresSecondFactor === true } };
  }),
  bind(routes.changeOrganizationSettings, async ({ body, caller, act }) => {
    await requireSecondFactor(deps, { ...toActor(caller), act }, body.second_factor_required);
    return { status: 200, body };
  }),
];

/** Binds the look-ups by other services. */
export const memberInternalRoutes = ({ database }: Pick<MemberRoutesDeps, 'database'>): Binding[] => [
  bind(internalRoutes.findMemberships, async ({ body }) => {
    const memberships = await findMembershipsByIds(database, body.ids);
    return { status: 200, body: { data: memberships.map((found) => (found ? toMembershipJson(found) : null)) } };
  }),
  bind(internalRoutes.listMembersOf, async ({ params }) => {
    const members = await listMembersOfOrganization(database, params.svc_user_id);
    const data = members.map((member) => ({ ...toSeatlessMemberJson(member), membership_id: member.id }));
    return { status: 200, body: { data } };
  }),
];
