import { z } from 'zod';
import { clientIdParams } from '../auth/apps.ts';
import { defineRoute, json, jsonBody, listOf, optionalJsonBody, pageOf } from '../core/route.ts';
import { accountWebhookRoutes } from './account-events.ts';
import {
  configureWebhookRequestSchema,
  rotateWebhookSecretRequestSchema,
  webhookConfigurationSchema,
  webhookConfiguredSchema,
  webhookEventParams,
  webhookSecretRotatedSchema,
} from './configurations.ts';
import {
  listOwnWebhookEventsQuerySchema,
  listWebhookEventsQuerySchema,
  ownWebhookEventSchema,
  recoverRequestSchema,
  testQueuedSchema,
  webhookEventDetailSchema,
  webhookEventListSchema,
  webhookEventRecordSchema,
} from './webhook-events.ts';

/** Days per query. */
export const ANALYTICS_DAYS_MAX = 366;

/** Query of an app's analytics: UTC days, both included. */
export const analyticsQuerySchema = z.object({
  from: z.iso.date().optional().meta({ description: 'First UTC day. Default: 29 days before `to`.' }),
  to: z.iso.date().optional().meta({ description: 'Last UTC day. Default: today.' }),
});

const countSchema = z.int().min(0);

/** Counts of an app for one UTC day, without personal data. */
export const appDaySchema = z
  .object({
    day: z.iso.date(),
    connections: countSchema.meta({ description: 'New connections.' }),
    requests: countSchema.meta({ description: 'Inference requests, refused ones included.' }),
    errors: countSchema.meta({ description: 'Requests that did not end in 2xx.' }),
    deliveries: countSchema.meta({ description: 'Attempts to deliver webhooks.' }),
    deliveries_failed: countSchema.meta({ description: 'Attempts that the receiver did not accept.' }),
  })
  .meta({ id: 'AppDay' });

export type AppDay = z.infer<typeof appDaySchema>;

const owner = {
  service: 'webhook-dispatcher',
  errorShape: 'detail',
  tag: 'Webhooks',
  caller: 'console_session',
  business: true,
} as const;

/** Public routes of the webhook dispatcher. */
export const webhookDispatcherRoutes = {
  ...accountWebhookRoutes,
  getAppAnalytics: defineRoute({
    ...owner,
    tag: 'Apps',
    operationId: 'getAppAnalytics',
    role: 'viewer',
    managementScope: 'apps:read',
    method: 'GET',
    path: '/v1/integrations/apps/{client_id}/analytics',
    summary: 'Count an app’s connections, requests and deliveries by day',
    description: 'Every UTC day from `from` to `to`, both included, at most 366. New requests appear within seconds.',
    request: { params: clientIdParams, query: analyticsQuerySchema },
    responses: { 200: json('The days, ascending.', listOf(appDaySchema)) },
    errors: ['not_found'],
  }),
  configureWebhook: defineRoute({
    ...owner,
    operationId: 'configureWebhook',
    role: 'developer',
    audit: 'webhook.configured',
    managementScope: 'webhooks:write',
    method: 'PUT',
    path: '/v1/integrations/apps/{client_id}/webhook',
    summary: 'Set the destination, starting a new generation with a new signing secret',
    description:
      'The answer has the signing secret, once. Events of an earlier generation that are not delivered yet are cancelled. The destination must be a public https address.',
    request: { params: clientIdParams, body: jsonBody(configureWebhookRequestSchema) },
    responses: { 200: json('The configuration. Its signing secret is shown only once.', webhookConfiguredSchema) },
    errors: ['not_found'],
  }),
  getWebhookConfiguration: defineRoute({
    ...owner,
    operationId: 'getWebhookConfiguration',
    role: 'viewer',
    managementScope: 'webhooks:read',
    method: 'GET',
    path: '/v1/integrations/apps/{client_id}/webhook',
    summary: 'Get the current configuration',
    description: 'Returns the destination and whether a failed event blocks it. Never the secret.',
    request: { params: clientIdParams },
    responses: { 200: json('The configuration.', webhookConfigurationSchema) },
    errors: ['not_found'],
  }),
  rotateWebhookSecret: defineRoute({
    ...owner,
    stepUp: true,
    operationId: 'rotateWebhookSecret',
    role: 'developer',
    audit: 'webhook.secret_rotated',
    managementScope: 'webhooks:write',
    method: 'POST',
    path: '/v1/integrations/apps/{client_id}/webhook/rotate-secret',
    summary: 'Rotate the signing secret',
    description:
      'The generation stays the same and nothing is cancelled. For `overlap_seconds`, deliveries carry signatures of both secrets.',
    request: { params: clientIdParams, body: optionalJsonBody(rotateWebhookSecretRequestSchema) },
    responses: { 200: json('The new secret. It is shown only once.', webhookSecretRotatedSchema) },
    errors: ['not_found', 'webhook_not_configured'],
  }),
  testWebhook: defineRoute({
    ...owner,
    operationId: 'testWebhook',
    role: 'developer',
    audit: 'webhook.tested',
    managementScope: 'webhooks:write',
    method: 'POST',
    path: '/v1/integrations/apps/{client_id}/webhook/test',
    summary: 'Queue a test event',
    description:
      'The event takes its place behind those that wait, at most 1,000. Watch the event list for its delivery.',
    request: { params: clientIdParams },
    responses: { 202: json('Queued. This does not prove delivery.', testQueuedSchema) },
    errors: ['not_found', 'webhook_not_configured', 'webhook_queue_full'],
  }),
  listWebhookEvents: defineRoute({
    ...owner,
    operationId: 'listWebhookEvents',
    role: 'viewer',
    managementScope: 'webhooks:read',
    method: 'GET',
    path: '/v1/integrations/apps/{client_id}/webhook/events',
    summary: 'List events and their delivery status, newest first',
    description: 'A failed event blocks the later ones of its app, so that they keep their order.',
    request: { params: clientIdParams, query: listWebhookEventsQuerySchema },
    responses: { 200: json('The events.', webhookEventListSchema) },
    errors: ['not_found'],
  }),
  getWebhookEvent: defineRoute({
    ...owner,
    operationId: 'getWebhookEvent',
    role: 'viewer',
    managementScope: 'webhooks:read',
    method: 'GET',
    path: '/v1/integrations/apps/{client_id}/webhook/events/{event_id}',
    summary: 'Get an event with its body and every attempt',
    description: '`payload` is the body as it was or will be sent.',
    request: { params: webhookEventParams },
    responses: { 200: json('The event.', webhookEventDetailSchema) },
    errors: ['not_found'],
  }),
  deliverWebhookEventNow: defineRoute({
    ...owner,
    operationId: 'deliverWebhookEventNow',
    role: 'developer',
    audit: 'webhook.event_sent',
    managementScope: 'webhooks:write',
    method: 'POST',
    path: '/v1/integrations/apps/{client_id}/webhook/events/{event_id}/deliver-now',
    summary: 'Deliver a queued event now',
    description: 'Makes the app’s next event due immediately, so that this one follows in sequence.',
    request: { params: webhookEventParams },
    responses: { 202: json('The event. This does not prove delivery.', webhookEventRecordSchema) },
    errors: ['not_found', 'event_not_queued'],
  }),
  listOwnWebhookEvents: defineRoute({
    service: 'webhook-dispatcher',
    errorShape: 'detail',
    tag: 'Webhooks',
    caller: 'client_credentials',
    operationId: 'listOwnWebhookEvents',
    method: 'GET',
    path: '/v1/integrations/webhook/events',
    summary: 'Fetch the app’s events, ascending by sequence',
    description: 'For receivers that missed events. Authenticates the app with its id and secret by HTTP Basic.',
    request: { query: listOwnWebhookEventsQuerySchema },
    responses: { 200: json('The events.', pageOf(ownWebhookEventSchema)) },
    errors: [],
  }),
  recoverWebhookEvent: defineRoute({
    ...owner,
    operationId: 'recoverWebhookEvent',
    role: 'developer',
    audit: 'webhook.event_recovered',
    managementScope: 'webhooks:write',
    method: 'POST',
    path: '/v1/integrations/apps/{client_id}/webhook/events/{event_id}/recover',
    summary: 'Retry or skip a failed event',
    description:
      '`retry` grants a fresh round of attempts. `skip` passes over the event and leaves a gap in the sequence.',
    request: { params: webhookEventParams, body: jsonBody(recoverRequestSchema) },
    responses: { 200: json('The event.', webhookEventRecordSchema) },
    errors: ['not_found', 'event_not_failed'],
  }),
} as const;
