import { z } from 'zod';
import { idSchema, pathIdSchema } from '../core/ids.ts';
import { emailSchema } from '../core/name.ts';
import { auditActions, roles } from '../core/roles.ts';
import { defineRoute, json, listOf, type ServiceName } from '../core/route.ts';
import { timestampInputSchema, timestampSchema } from '../core/time.ts';

export const roleSchema = z.enum(roles).meta({ id: 'Role', description: 'Role of a member of an organization.' });

/** An organization, as one of its members sees it. */
export const organizationSchema = z
  .object({ id: idSchema('usr'), name: z.string(), role: roleSchema })
  .meta({ id: 'Organization' });

export type OrganizationJson = z.infer<typeof organizationSchema>;

/** The organization to act for; null to act for oneself. */
export const switchOrganizationRequestSchema = z
  .strictObject({ organization_id: z.string().min(1).max(128).nullable() })
  .meta({ id: 'SwitchOrganizationRequest' });

/** A member of an organization. */
export const memberSchema = z
  .object({
    svc_user_id: idSchema('usr'),
    name: z.string().meta({ description: 'Display name, or the address where there is none.' }),
    email: z.string(),
    role: roleSchema,
    has_second_factor: z.boolean(),
    seat: z
      .string()
      .nullable()
      .meta({ description: '`plan_id` of the seat that the organization pays; null for none.' }),
    joined_at: timestampSchema,
  })
  .meta({ id: 'Member' });

export type MemberJson = z.infer<typeof memberSchema>;

export const updateMemberRequestSchema = z.strictObject({ role: roleSchema }).meta({ id: 'UpdateMemberRequest' });

/** `{svc_user_id}` of a member in a path. */
export const memberParams = z.object({ svc_user_id: pathIdSchema });

export const createInvitationRequestSchema = z
  .strictObject({ email: emailSchema, role: roleSchema })
  .meta({ id: 'CreateInvitationRequest' });

/** An invitation that waits for its person. */
export const invitationSchema = z
  .object({
    id: idSchema('ivt'),
    email: z.string(),
    role: roleSchema,
    expires_at: timestampSchema.meta({ description: 'Seven days after the invitation.' }),
  })
  .meta({ id: 'Invitation' });

export type InvitationJson = z.infer<typeof invitationSchema>;

/** `{invitation_id}` in a path. */
export const invitationParams = z.object({ invitation_id: pathIdSchema });

/** Rules of an organization for its members. */
export const organizationSettingsSchema = z
  .strictObject({
    second_factor_required: z.boolean().meta({ description: 'Only members with a second factor may act for it.' }),
  })
  .meta({ id: 'OrganizationSettings' });

/** A person, by name. The name is null once the account was erased. */
export const namedPersonSchema = z.object({ svc_user_id: idSchema('usr'), name: z.string().nullable() });

export type NamedPerson = z.infer<typeof namedPersonSchema>;

/** Origin of an act. */
export const actSourceSchema = z.enum(['console', 'management_key', 'operator']);

export type ActSource = z.infer<typeof actSourceSchema>;

const auditActionSchema = z.enum(auditActions).meta({ id: 'AuditAction' });

/** Thing that an act changed. */
const auditTargetSchema = z.object({
  type: z.string().meta({ description: 'Such as `app`, `api_key`, `member` or `webhook`.' }),
  id: z.string().nullable(),
  name: z.string().nullable(),
});

export type AuditTarget = z.infer<typeof auditTargetSchema>;

/** An act, as a service has recorded it in the transaction of the act. */
export const recordedActSchema = z.object({
  id: idSchema('aud'),
  at: timestampSchema,
  actor_id: idSchema('usr').nullable().meta({ description: 'Null for an operator.' }),
  action: auditActionSchema,
  target: auditTargetSchema,
  source: actSourceSchema,
});

/** Acts in one answer between services. */
export const ACTS_MAX = 1_000;

export type RecordedAct = z.infer<typeof recordedActSchema>;

/** An entry of the audit log of an organization. */
export const auditEntrySchema = recordedActSchema
  .omit({ actor_id: true })
  .extend({ actor: namedPersonSchema.nullable().meta({ description: 'Null for an operator.' }) })
  .meta({ id: 'AuditEntry' });

/** Filters of the audit log. Both ends of the time are optional; `to` is excluded. */
export const auditFilters = {
  actor: z.string().min(1).max(128).optional(),
  action: auditActionSchema.optional(),
  from: timestampInputSchema.optional(),
  to: timestampInputSchema.optional(),
};

/** Defines the internal route on which a service hands over the acts that it has recorded, newest first. */
export const recordedActsRoute = <const S extends ServiceName, const N extends string>(service: S, operationId: N) =>
  defineRoute({
    service,
    caller: 'service',
    callers: ['auth'],
    errorShape: 'detail',
    tag: 'Internal',
    operationId,
    method: 'GET',
    path: `/internal/${service}/acts/{svc_user_id}`,
    summary: 'List the acts for an organization that the service has recorded',
    request: {
      params: memberParams,
      query: z.object({
        ...auditFilters,
        limit: z.int().min(1).max(ACTS_MAX),
        after: z.string().min(1).max(128).optional(),
      }),
    },
    responses: { 200: json('The acts, newest first.', listOf(recordedActSchema)) },
    errors: [],
  });
