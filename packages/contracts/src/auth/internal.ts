import { z } from 'zod';
import { idSchema } from '../core/ids.ts';
import { defineRoute, json, jsonBody } from '../core/route.ts';
import { timestampSchema } from '../core/time.ts';
import { clientIdParams } from './apps.ts';

/** Owner and state of an app. */
export const appOwnershipSchema = z.object({
  client_id: idSchema('app'),
  owner_user_id: idSchema('usr'),
  name: z.string(),
  active: z.boolean(),
});

export type AppOwnership = z.infer<typeof appOwnershipSchema>;

/** A change in the deliveries of an app's webhook that its owner is mailed about. */
export const webhookNoticeSchema = z.strictObject({
  change: z.enum(['blocked', 'recovered']),
  /** The event that failed on every attempt. */
  event_id: idSchema('evt'),
  event: z.string(),
  last_attempt_at: timestampSchema,
});

export type WebhookNotice = z.infer<typeof webhookNoticeSchema>;

/** Internal routes of the auth service. */
export const authInternalRoutes = {
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
    path: '/internal/apps/{client_id}/webhook-notices',
    service: 'auth',
    caller: 'service',
    callers: ['webhook-dispatcher'],
    errorShape: 'detail',
    tag: 'Internal',
    summary: 'Mail the owner of an app that its webhook is blocked, or has recovered',
    request: { params: clientIdParams, body: jsonBody(webhookNoticeSchema) },
    responses: { 204: { description: 'The mail is queued.' } },
    errors: ['not_found'],
  }),
} as const;
