import { z } from 'zod';
import { idSchema, pathIdSchema } from '../core/ids.ts';
import { defineRoute, json, jsonBody, listOf } from '../core/route.ts';
import { timestampSchema } from '../core/time.ts';
import { clientIdParams } from './apps.ts';
import { findManagementKeys } from './management-keys.ts';
import { memberParams, memberSchema, namedPersonSchema, roleSchema } from './organizations.ts';

/** Owner and state of an app. */
export const appOwnershipSchema = z.object({
  client_id: idSchema('app'),
  owner_user_id: idSchema('usr'),
  name: z.string(),
  active: z.boolean(),
});

export type AppOwnership = z.infer<typeof appOwnershipSchema>;

/** Path of a webhook's owner: an app's `client_id`, or an account's `svc_user_id`. */
const webhookOwnerParams = z.object({ owner_id: pathIdSchema });

/** A change in the deliveries of a webhook that its owner is mailed about. */
export const webhookNoticeSchema = z.strictObject({
  change: z.enum(['blocked', 'paused', 'recovered']),
  /** The event that failed on every attempt. */
  event_id: idSchema('evt'),
  event: z.string(),
  last_attempt_at: timestampSchema,
});

export type WebhookNotice = z.infer<typeof webhookNoticeSchema>;

/** Maximum memberships in one look-up. */
export const MEMBERSHIP_LOOKUPS_MAX = 500;

/** Maximum accounts in one look-up of names. */
export const ACCOUNT_NAMES_MAX = 1_000;

/** A membership, as a session token names it. Versions grow with each change of the role. */
export const membershipSchema = z.object({
  id: idSchema('mem'),
  organization_id: idSchema('usr'),
  svc_user_id: idSchema('usr'),
  role: roleSchema,
  version: z.int().min(1),
});

export type Membership = z.infer<typeof membershipSchema>;

/** Maximum keys in one look-up of revocations. */
export const REVOCATION_KEYS_MAX = 1_000;

/** Revocations among the keys of a look-up, as their publisher has recorded them. */
export const recordedRevocationsSchema = z.object({
  data: z.array(
    z.object({
      key: z.string(),
      revoked_through: z.string().nullable().meta({ description: 'End of the range; null for a single credential.' }),
    }),
  ),
  is_published: z.boolean().meta({ description: 'False while any revocation waits for NATS.' }),
});

export type RecordedRevocations = z.infer<typeof recordedRevocationsSchema>;

/** Internal routes of the auth service. */
export const authInternalRoutes = {
  findManagementKeys,
  getAppOwnership: defineRoute({
    operationId: 'getAppOwnership',
    method: 'GET',
    path: '/internal/apps/{client_id}',
    service: 'auth',
    caller: 'service',
    callers: ['webhook-dispatcher'],
    errorShape: 'detail',
    tag: 'Internal',
    summary: 'Get owner and state of an app',
    request: { params: clientIdParams },
    responses: { 200: json('The app.', appOwnershipSchema) },
    errors: ['not_found'],
  }),
  authenticateApp: defineRoute({
    operationId: 'authenticateApp',
    method: 'POST',
    path: '/internal/apps/{client_id}/authentications',
    service: 'auth',
    caller: 'service',
    callers: ['webhook-dispatcher'],
    errorShape: 'detail',
    tag: 'Internal',
    summary: 'Check the client secret of an active or deactivated app',
    request: { params: clientIdParams, body: jsonBody(z.strictObject({ client_secret: z.string() })) },
    responses: { 200: json('`is_authentic` is true if the secret is valid.', z.object({ is_authentic: z.boolean() })) },
    errors: [],
  }),
  findMemberships: defineRoute({
    operationId: 'findMemberships',
    method: 'POST',
    path: '/internal/membership-lookups',
    service: 'auth',
    caller: 'service',
    callers: ['billing', 'inference-gateway', 'webhook-dispatcher'],
    errorShape: 'detail',
    tag: 'Internal',
    summary: 'Find the present roles of memberships',
    request: { body: jsonBody(z.strictObject({ ids: z.array(z.string().max(128)).max(MEMBERSHIP_LOOKUPS_MAX) })) },
    responses: {
      200: json(
        'The memberships in the order of their ids; null for one that has ended.',
        listOf(membershipSchema.nullable()),
      ),
    },
    errors: [],
  }),
  listMembersOf: defineRoute({
    operationId: 'listMembersOf',
    method: 'GET',
    path: '/internal/organizations/{svc_user_id}/members',
    service: 'auth',
    caller: 'service',
    callers: ['billing', 'inference-gateway'],
    errorShape: 'detail',
    tag: 'Internal',
    summary: 'List the members of an organization',
    request: { params: memberParams },
    responses: {
      200: json(
        'The members, without seats.',
        listOf(memberSchema.omit({ seat: true }).extend({ membership_id: idSchema('mem') })),
      ),
    },
    errors: [],
  }),
  nameAccounts: defineRoute({
    operationId: 'nameAccounts',
    method: 'POST',
    path: '/internal/account-names',
    service: 'auth',
    caller: 'service',
    callers: ['billing', 'inference-gateway'],
    errorShape: 'detail',
    tag: 'Internal',
    summary: 'Get the names of accounts: the business name, the display name, or the address',
    request: {
      body: jsonBody(z.strictObject({ svc_user_ids: z.array(z.string().max(128)).max(ACCOUNT_NAMES_MAX) })),
    },
    responses: { 200: json('The names, in the order of the ids.', listOf(namedPersonSchema)) },
    errors: [],
  }),
  mailWebhookNotice: defineRoute({
    operationId: 'mailWebhookNotice',
    method: 'POST',
    path: '/internal/webhook-owners/{owner_id}/notices',
    service: 'auth',
    caller: 'service',
    callers: ['webhook-dispatcher'],
    errorShape: 'detail',
    tag: 'Internal',
    summary: 'Mail the owner of a webhook that it is blocked, is paused, or has recovered',
    request: { params: webhookOwnerParams, body: jsonBody(webhookNoticeSchema) },
    responses: { 204: { description: 'The mail is queued.' } },
    errors: ['not_found'],
  }),
  lookUpRevocations: defineRoute({
    operationId: 'lookUpRevocations',
    method: 'POST',
    path: '/internal/revocation-lookups',
    service: 'auth',
    caller: 'service',
    callers: ['billing', 'inference-gateway', 'webhook-dispatcher'],
    errorShape: 'detail',
    tag: 'Internal',
    summary: 'Look up revocations of grants, sessions, apps and accounts while NATS does not deliver them',
    request: {
      body: jsonBody(
        z.strictObject({
          keys: z
            .array(z.string().min(1).max(256))
            .max(REVOCATION_KEYS_MAX)
            .meta({ description: 'Keys of the bucket of revocations, such as `grant.grt_…`.' }),
        }),
      ),
    },
    responses: { 200: json('The revocations among these keys.', recordedRevocationsSchema) },
    errors: [],
  }),
} as const;
