import { type InvitationJson, type MemberJson, newId, routes } from '@svc/contracts';
import { AppError, type Binding, bind } from '@svc/service-kit';
import { membershipOf, nameOf, organizationOf } from './organization-state.ts';
import { freshSession, knownById } from './session-body.ts';
import { daysFromNow, type Membership, type MockState, type Organization } from './state.ts';

const INVITATION_DAYS = 7;

/** Members, invitations, rules and the audit log of organizations. */
export const organizationBindings = (state: MockState): Binding[] => [
  ...personBindings(state),
  ...memberBindings(state),
  ...invitationBindings(state),
  ...ruleBindings(state),
];

/** Returns a member as the members see one. */
export const memberBody = (state: MockState, { userId, role, joinedAt, seat }: Membership): MemberJson => {
  const { account } = knownById(state, userId);
  return {
    svc_user_id: userId,
    name: nameOf(state, userId) ?? account.email,
    email: account.email,
    role,
    has_second_factor: account.has_second_factor,
    seat,
    joined_at: joinedAt,
  };
};

const personBindings = (state: MockState): Binding[] => [
  bind(routes.listOrganizations, async ({ caller }) => {
    const data = [...state.organizations.values()].flatMap((organization) => {
      const membership = membershipOf(organization, caller.personId);
      return membership === undefined ? [] : [{ id: organization.id, name: organization.name, role: membership.role }];
    });
    return { status: 200, body: { data } };
  }),
  bind(routes.switchOrganization, async ({ body, caller }) => {
    const { account } = knownById(state, caller.personId);
    const id = body.organization_id;
    if (id !== null) {
      const organization = organizationOf(state, id);
      if (membershipOf(organization, caller.personId) === undefined) throw new AppError('not_found');
      if (organization.isSecondFactorRequired && !account.has_second_factor) {
        throw new AppError('organization_requires_second_factor');
      }
    }
    return { status: 201, body: freshSession(state, account, id ?? undefined) };
  }),
  bind(routes.acceptInvitation, async ({ body, caller }) => {
    const organization = [...state.organizations.values()].find(({ invitations }) =>
      invitations.some(({ id }) => id === body.token),
    );
    const invitation = organization?.invitations.find(({ id }) => id === body.token);
    if (organization === undefined || invitation === undefined) throw new AppError('token_invalid');
    const { account } = knownById(state, caller.personId);
    if (account.email !== invitation.email) throw new AppError('invitation_for_another');
    organization.invitations = organization.invitations.filter((waiting) => waiting !== invitation);
    const { role } = invitation;
    organization.memberships.push({ userId: caller.personId, role, joinedAt: new Date().toISOString(), seat: null });
    return { status: 200, body: { organization: { id: organization.id, name: organization.name, role } } };
  }),
];

const requireMember = (organization: Organization, userId: string): Membership => {
  const membership = membershipOf(organization, userId);
  if (membership === undefined) throw new AppError('not_found');
  return membership;
};

const keepAnOwner = (organization: Organization, leaving: Membership): void => {
  const isOther = (membership: Membership): boolean => membership !== leaving && membership.role === 'owner';
  if (leaving.role === 'owner' && !organization.memberships.some(isOther)) throw new AppError('last_owner');
};

const memberBindings = (state: MockState): Binding[] => [
  bind(routes.listMembers, async ({ caller }) => {
    const { memberships } = organizationOf(state, caller.userId);
    return { status: 200, body: { data: memberships.map((membership) => memberBody(state, membership)) } };
  }),
  bind(routes.updateMember, async ({ params, body, caller }) => {
    const organization = organizationOf(state, caller.userId);
    const membership = requireMember(organization, params.svc_user_id);
    if (body.role !== 'owner') keepAnOwner(organization, membership);
    membership.role = body.role;
    return { status: 200, body: memberBody(state, membership) };
  }),
  bind(routes.removeMember, async ({ params, caller }) => {
    const organization = organizationOf(state, caller.userId);
    const membership = requireMember(organization, params.svc_user_id);
    keepAnOwner(organization, membership);
    organization.memberships = organization.memberships.filter((other) => other !== membership);
    return { status: 204 };
  }),
];

const invitationBindings = (state: MockState): Binding[] => [
  bind(routes.createInvitation, async ({ body, caller }) => {
    const organization = organizationOf(state, caller.userId);
    const { email, role } = body;
    if (organization.memberships.some(({ userId }) => knownById(state, userId).account.email === email)) {
      throw new AppError('already_member');
    }
    const invitation: InvitationJson = { id: newId('ivt'), email, role, expires_at: daysFromNow(INVITATION_DAYS) };
    const others = organization.invitations.filter((waiting) => waiting.email !== email);
    organization.invitations = [invitation, ...others];
    return { status: 201, body: invitation };
  }),
  bind(routes.listInvitations, async ({ caller }) => ({
    status: 200,
    body: { data: organizationOf(state, caller.userId).invitations },
  })),
  bind(routes.withdrawInvitation, async ({ params, caller }) => {
    const organization = organizationOf(state, caller.userId);
    const others = organization.invitations.filter(({ id }) => id !== params.invitation_id);
    if (others.length === organization.invitations.length) throw new AppError('not_found');
    organization.invitations = others;
    return { status: 204 };
  }),
];

const ruleBindings = (state: MockState): Binding[] => [
  bind(routes.getOrganizationSettings, async ({ caller }) => ({
    status: 200,
    body: { second_factor_required: organizationOf(state, caller.userId).isSecondFactorRequired },
  })),
  bind(routes.changeOrganizationSettings, async ({ body, caller }) => {
    if (body.second_factor_required && !knownById(state, caller.personId).account.has_second_factor) {
      throw new AppError('organization_requires_second_factor');
    }
    organizationOf(state, caller.userId).isSecondFactorRequired = body.second_factor_required;
    return { status: 200, body };
  }),
  bind(routes.listAuditLog, async ({ query, caller, req }) => {
    const matching = organizationOf(state, caller.userId).acts.filter(
      ({ actor, action, at }) =>
        (query.actor === undefined || actor?.svc_user_id === query.actor) &&
        (query.action === undefined || action === query.action) &&
        (query.from === undefined || at >= new Date(query.from).toISOString()) &&
        (query.to === undefined || at < new Date(query.to).toISOString()),
    );
    if (req.headers.accept === 'text/csv') {
      const lines = matching.map(({ at, action }) => `${at},${action}\r\n`);
      return { status: 200, contentType: 'text/csv', body: `at,action\r\n${lines.join('')}` };
    }
    const start = query.after === undefined ? 0 : matching.findIndex(({ id }) => id === query.after) + 1;
    const data = matching.slice(start, start + query.limit);
    return { status: 200, body: { data, has_more: start + data.length < matching.length } };
  }),
];
