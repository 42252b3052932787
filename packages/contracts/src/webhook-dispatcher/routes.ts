import { z } from 'zod';
import { clientIdParams } from '../auth/apps.ts';
import { pageOf, pageQuery } from '../core/lists.ts';
import { defineRoute, json, jsonBody } from '../core/route.ts';
import {
  configureWebhookRequestSchema,
  webhookConfigurationSchema,
  webhookConfiguredSchema,
  webhookEventParams,
} from './configurations.ts';
import { recoverRequestSchema, testQueuedSchema, webhookEventRecordSchema } from './webhook-events.ts';

const owner = {
  service: 'webhook-dispatcher',
  errorShape: 'detail',
  tag: 'Webhooks',
  caller: 'console_session',
  business: true,
} as const;

/** Public routes of the webhook dispatcher. */
export const webhookDispatcherRoutes = {
  configureWebhook: defineRoute({
    ...owner,
    operationId: 'configureWebhook',
    method: 'PUT',
    path: '/v1/integrations/apps/{client_id}/webhook',
    summary: 'Set the destination, starting a new generation with a new signing secret',
    request: { params: clientIdParams, body: jsonBody(configureWebhookRequestSchema) },
    responses: { 200: json('The configuration. Its signing secret is shown only once.', webhookConfiguredSchema) },
    errors: ['not_found'],
  }),
  getWebhookConfiguration: defineRoute({
    ...owner,
    operationId: 'getWebhookConfiguration',
    method: 'GET',
    path: '/v1/integrations/apps/{client_id}/webhook',
    summary: 'Get the current configuration',
    request: { params: clientIdParams },
    responses: { 200: json('The configuration.', webhookConfigurationSchema) },
    errors: ['not_found'],
  }),
  testWebhook: defineRoute({
    ...owner,
    operationId: 'testWebhook',
    method: 'POST',
    path: '/v1/integrations/apps/{client_id}/webhook/test',
    summary: 'Queue a test event',
    request: { params: clientIdParams },
    responses: { 202: json('Queued. This does not prove delivery.', testQueuedSchema) },
    errors: ['not_found', 'webhook_not_configured'],
  }),
  listWebhookEvents: defineRoute({
    ...owner,
    operationId: 'listWebhookEvents',
    method: 'GET',
    path: '/v1/integrations/apps/{client_id}/webhook/events',
    summary: 'Delivery status, newest first',
    request: { params: clientIdParams, query: z.object(pageQuery) },
    responses: { 200: json('The events.', pageOf(webhookEventRecordSchema)) },
    errors: ['not_found'],
  }),
  recoverWebhookEvent: defineRoute({
    ...owner,
    operationId: 'recoverWebhookEvent',
    method: 'POST',
    path: '/v1/integrations/apps/{client_id}/webhook/events/{event_id}/recover',
    summary: 'Retry or skip a failed event',
    request: { params: webhookEventParams, body: jsonBody(recoverRequestSchema) },
    responses: { 200: json('The event.', webhookEventRecordSchema) },
    errors: ['not_found', 'event_not_failed'],
  }),
} as const;
