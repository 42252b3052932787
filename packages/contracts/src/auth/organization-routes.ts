import { z } from 'zod';
import { created, defineRoute, json, jsonBody, listOf, pageOf, pageQuery } from '../core/route.ts';
import { mailedTokenRequestSchema, sessionCreatedSchema } from './accounts.ts';
import {
  auditEntrySchema,
  auditFilters,
  createInvitationRequestSchema,
  invitationParams,
  invitationSchema,
  memberParams,
  memberSchema,
  organizationSchema,
  organizationSettingsSchema,
  switchOrganizationRequestSchema,
  updateMemberRequestSchema,
} from './organizations.ts';

const console = {
  service: 'auth',
  errorShape: 'detail',
  tag: 'Organizations',
  caller: 'console_session',
  managementScope: null,
} as const;

/** Routes of a person's organizations. */
const ownOrganizationRoutes = {
  listOrganizations: defineRoute({
    ...console,
    operationId: 'listOrganizations',
    role: 'person',
    method: 'GET',
    path: '/v1/console/organizations',
    summary: 'List the organizations for which you may act',
    description: 'Those of which the signed-in person is a member. A business account is an organization too.',
    request: {},
    responses: { 200: json('The organizations, by name.', listOf(organizationSchema)) },
    errors: [],
  }),
  switchOrganization: defineRoute({
    ...console,
    operationId: 'switchOrganization',
    role: 'person',
    audit: null,
    method: 'POST',
    path: '/v1/console/session/organization',
    summary: 'Act for an organization, or for yourself again',
    description:
      'Returns another session token; the present one stays valid. With it, every endpoint of the console concerns the organization, as far as your role allows.',
    request: { body: jsonBody(switchOrganizationRequestSchema) },
    responses: { 201: created('The session.', sessionCreatedSchema, '/v1/console/session') },
    errors: ['not_found', 'organization_requires_second_factor'],
  }),
  acceptInvitation: defineRoute({
    ...console,
    operationId: 'acceptInvitation',
    role: 'person',
    audit: 'invitation.accepted',
    method: 'POST',
    path: '/v1/console/organization/invitations/accept',
    summary: 'Accept an invitation',
    description: 'Takes the token of the mailed link. The account must have the address that was invited.',
    request: { body: jsonBody(mailedTokenRequestSchema) },
    responses: { 200: json('The organization, with your role.', z.object({ organization: organizationSchema })) },
    errors: ['token_invalid', 'invitation_for_another'],
  }),
} as const;

/** Only owners make owners. */
const ownerForOwners = (body: unknown): 'owner' | undefined =>
  updateMemberRequestSchema.shape.role.safeParse(Object(body).role).data === 'owner' ? 'owner' : undefined;

/** Routes of the members of an organization. */
const memberRoutes = {
  listMembers: defineRoute({
    ...console,
    business: true,
    operationId: 'listMembers',
    role: 'viewer',
    method: 'GET',
    path: '/v1/console/organization/members',
    summary: 'List the members',
    description: 'Returns every member with role and seat, in the order in which they joined.',
    request: {},
    responses: { 200: json('The members.', listOf(memberSchema)) },
    errors: [],
  }),
  updateMember: defineRoute({
    ...console,
    business: true,
    stepUp: true,
    operationId: 'updateMember',
    role: 'admin',
    roleOfBody: ownerForOwners,
    audit: 'member.role_changed',
    method: 'PATCH',
    path: '/v1/console/organization/members/{svc_user_id}',
    summary: 'Change the role of a member',
    description:
      'Holds within a second in tokens already issued; below `admin`, management keys that the member has created end with it. Only an owner makes owners, or changes the role of one. The last owner keeps the role.',
    request: { params: memberParams, body: jsonBody(updateMemberRequestSchema) },
    responses: { 200: json('The member.', memberSchema) },
    errors: ['not_found', 'role_not_allowed', 'last_owner'],
  }),
  removeMember: defineRoute({
    ...console,
    business: true,
    operationId: 'removeMember',
    // One's own id: everybody may leave. The handler wants `admin` for others.
    role: 'viewer',
    audit: 'member.removed',
    method: 'DELETE',
    path: '/v1/console/organization/members/{svc_user_id}',
    summary: 'Remove a member, or leave',
    description:
      'Wants the role `admin`, and `owner` to remove an owner; with your own id you leave. Tokens that act for the organization end within a second, and so do the seat and the management keys that the member has created. API keys of the member stay, marked with `creator_left`. The last owner cannot go.',
    request: { params: memberParams },
    responses: { 204: { description: 'Removed.' } },
    errors: ['not_found', 'role_not_allowed', 'last_owner'],
  }),
} as const;

/** Routes of invitations and settings of an organization. */
const invitationRoutes = {
  createInvitation: defineRoute({
    ...console,
    business: true,
    stepUp: true,
    verifiedEmail: true,
    operationId: 'createInvitation',
    role: 'admin',
    roleOfBody: ownerForOwners,
    audit: 'invitation.created',
    method: 'POST',
    path: '/v1/console/organization/invitations',
    summary: 'Invite a person',
    description:
      'Mails a link that works once, for seven days. Only an owner invites owners. Another invitation of the same address replaces the first.',
    request: { body: jsonBody(createInvitationRequestSchema) },
    responses: {
      201: created('The invitation.', invitationSchema, '/v1/console/organization/invitations/{id}'),
    },
    errors: ['role_not_allowed', 'already_member', 'too_many_attempts'],
  }),
  listInvitations: defineRoute({
    ...console,
    business: true,
    operationId: 'listInvitations',
    role: 'admin',
    method: 'GET',
    path: '/v1/console/organization/invitations',
    summary: 'List the invitations that wait',
    description: 'Newest first. Used, withdrawn and expired ones are gone.',
    request: {},
    responses: { 200: json('The invitations.', listOf(invitationSchema)) },
    errors: [],
  }),
  withdrawInvitation: defineRoute({
    ...console,
    business: true,
    operationId: 'withdrawInvitation',
    role: 'admin',
    audit: 'invitation.withdrawn',
    method: 'DELETE',
    path: '/v1/console/organization/invitations/{invitation_id}',
    summary: 'Withdraw an invitation',
    description: 'Its link stops working at once.',
    request: { params: invitationParams },
    responses: { 204: { description: 'Withdrawn.' } },
    errors: ['not_found'],
  }),
  getOrganizationSettings: defineRoute({
    ...console,
    business: true,
    operationId: 'getOrganizationSettings',
    role: 'admin',
    method: 'GET',
    path: '/v1/console/organization/settings',
    summary: 'Get the rules for members',
    description: 'Nothing is required until it is set.',
    request: {},
    responses: { 200: json('The rules.', organizationSettingsSchema) },
    errors: [],
  }),
  changeOrganizationSettings: defineRoute({
    ...console,
    business: true,
    stepUp: true,
    operationId: 'changeOrganizationSettings',
    role: 'admin',
    audit: 'organization.settings_changed',
    method: 'PUT',
    path: '/v1/console/organization/settings',
    summary: 'Change the rules for members',
    description:
      'Where a second factor is required, tokens of members without one end within a second. They may act again once they have added one.',
    request: { body: jsonBody(organizationSettingsSchema) },
    responses: { 200: json('The rules.', organizationSettingsSchema) },
    errors: [],
  }),
  listAuditLog: defineRoute({
    ...console,
    business: true,
    operationId: 'listAuditLog',
    role: 'admin',
    method: 'GET',
    path: '/v1/console/organization/audit',
    summary: 'List what was done, newest first',
    description:
      'Every act on members, invitations, settings, apps, secrets, webhooks, keys and money, for 400 days. With `Accept: text/csv`, all pages as one CSV file.',
    request: { query: z.object({ ...pageQuery, ...auditFilters }) },
    responses: {
      200: { ...json('The acts.', pageOf(auditEntrySchema)), alternatives: { 'text/csv': z.string() } },
    },
    errors: [],
  }),
} as const;

/** Routes of organizations in auth. Those of their money are in billing. */
export const organizationRoutes = { ...ownOrganizationRoutes, ...memberRoutes, ...invitationRoutes } as const;
