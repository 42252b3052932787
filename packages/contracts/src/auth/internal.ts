import { z } from 'zod';
import { idSchema, pathIdSchema } from '../core/ids.ts';
import { defineRoute, json, jsonBody } from '../core/route.ts';
import { timestampSchema } from '../core/time.ts';
import { clientIdParams } from './apps.ts';
import { findManagementKeys } from './management-keys.ts';

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
