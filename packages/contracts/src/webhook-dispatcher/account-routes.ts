import { defineRoute, json, jsonBody, optionalJsonBody } from '../core/route.ts';
import {
  accountEventDetailSchema,
  accountEventListSchema,
  accountEventRecordSchema,
  listAccountEventsQuerySchema,
} from './account-events.ts';
import {
  accountEventParams,
  accountWebhookConfiguredSchema,
  accountWebhookSchema,
  configureWebhookRequestSchema,
  rotateWebhookSecretRequestSchema,
  webhookSecretRotatedSchema,
} from './configurations.ts';
import { recoverRequestSchema, testQueuedSchema } from './webhook-events.ts';

const account = {
  service: 'webhook-dispatcher',
  errorShape: 'detail',
  tag: 'Account events',
  caller: 'console_session',
  managementScope: null,
} as const;

/** Routes of an account's own webhook. */
export const accountWebhookRoutes = {
  configureAccountWebhook: defineRoute({
    ...account,
    operationId: 'configureAccountWebhook',
    method: 'PUT',
    path: '/v1/console/account/webhook',
    summary: 'Set the destination of your account’s events, with a new signing secret',
    description:
      'The answer has the signing secret, once. Events of an earlier generation that are not delivered yet are cancelled. The destination must be a public https address.',
    request: { body: jsonBody(configureWebhookRequestSchema) },
    responses: {
      200: json('The configuration. Its signing secret is shown only once.', accountWebhookConfiguredSchema),
    },
    errors: [],
  }),
  getAccountWebhook: defineRoute({
    ...account,
    operationId: 'getAccountWebhook',
    method: 'GET',
    path: '/v1/console/account/webhook',
    summary: 'Get your account’s webhook',
    description: 'Returns the destination and whether a failed event blocks it. Never the secret.',
    request: {},
    responses: { 200: json('The configuration.', accountWebhookSchema) },
    errors: ['not_found'],
  }),
  deleteAccountWebhook: defineRoute({
    ...account,
    operationId: 'deleteAccountWebhook',
    method: 'DELETE',
    path: '/v1/console/account/webhook',
    summary: 'Delete your account’s webhook',
    description:
      'Events that are not delivered yet are cancelled, and no more are stored. A webhook that is set later continues the sequence.',
    request: {},
    responses: { 204: { description: 'The webhook is gone, or there was none.' } },
    errors: [],
  }),
  rotateAccountWebhookSecret: defineRoute({
    ...account,
    stepUp: true,
    operationId: 'rotateAccountWebhookSecret',
    method: 'POST',
    path: '/v1/console/account/webhook/rotate-secret',
    summary: 'Rotate the signing secret',
    description:
      'The generation stays the same and nothing is cancelled. For `overlap_seconds`, deliveries carry signatures of both secrets.',
    request: { body: optionalJsonBody(rotateWebhookSecretRequestSchema) },
    responses: { 200: json('The new secret. It is shown only once.', webhookSecretRotatedSchema) },
    errors: ['webhook_not_configured'],
  }),
  testAccountWebhook: defineRoute({
    ...account,
    operationId: 'testAccountWebhook',
    method: 'POST',
    path: '/v1/console/account/webhook/test',
    summary: 'Queue a test event',
    description:
      'The event takes its place behind those that wait, at most 1,000. Watch the event list for its delivery.',
    request: {},
    responses: { 202: json('Queued. This does not prove delivery.', testQueuedSchema) },
    errors: ['webhook_not_configured', 'webhook_queue_full'],
  }),
  listAccountEvents: defineRoute({
    ...account,
    operationId: 'listAccountEvents',
    method: 'GET',
    path: '/v1/console/account/webhook/events',
    summary: 'List events and their delivery status, newest first',
    description: 'A failed event blocks the later ones, so that they keep their order.',
    request: { query: listAccountEventsQuerySchema },
    responses: { 200: json('The events.', accountEventListSchema) },
    errors: [],
  }),
  getAccountEvent: defineRoute({
    ...account,
    operationId: 'getAccountEvent',
    method: 'GET',
    path: '/v1/console/account/webhook/events/{event_id}',
    summary: 'Get an event with its body and every attempt',
    description: '`payload` is the body as it was or will be sent.',
    request: { params: accountEventParams },
    responses: { 200: json('The event.', accountEventDetailSchema) },
    errors: ['not_found'],
  }),
  deliverAccountEventNow: defineRoute({
    ...account,
    operationId: 'deliverAccountEventNow',
    method: 'POST',
    path: '/v1/console/account/webhook/events/{event_id}/deliver-now',
    summary: 'Deliver a queued event now',
    description: 'Makes the next event due immediately, so that this one follows in sequence.',
    request: { params: accountEventParams },
    responses: { 202: json('The event. This does not prove delivery.', accountEventRecordSchema) },
    errors: ['not_found', 'event_not_queued'],
  }),
  recoverAccountEvent: defineRoute({
    ...account,
    operationId: 'recoverAccountEvent',
    method: 'POST',
    path: '/v1/console/account/webhook/events/{event_id}/recover',
    summary: 'Retry or skip a failed event',
    description:
      '`retry` grants a fresh round of attempts. `skip` passes over the event and leaves a gap in the sequence.',
    request: { params: accountEventParams, body: jsonBody(recoverRequestSchema) },
    responses: { 200: json('The event.', accountEventRecordSchema) },
    errors: ['not_found', 'event_not_failed'],
  }),
} as const;
