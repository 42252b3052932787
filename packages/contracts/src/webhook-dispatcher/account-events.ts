import { z } from 'zod';
import { planReferenceSchema } from '../billing/plans.ts';
import { subscriptionStatusSchema } from '../billing/subscriptions.ts';
import { autoTopUpFailureSchema, topUpSourceSchema } from '../billing/wallets.ts';
import { idSchema } from '../core/ids.ts';
import { currencySchema, microsSchema, nonNegativeMicrosSchema } from '../core/money.ts';
import { defineRoute, json, jsonBody, optionalJsonBody, pageOf } from '../core/route.ts';
import { timestampSchema } from '../core/time.ts';
import {
  accountEventParams,
  accountWebhookConfiguredSchema,
  accountWebhookSchema,
  configureWebhookRequestSchema,
  rotateWebhookSecretRequestSchema,
  webhookSecretRotatedSchema,
} from './configurations.ts';
import {
  envelopeMembers,
  eventDetailMembers,
  eventListMembers,
  eventListQueryOf,
  eventRecordOf,
  recoverRequestSchema,
  testQueuedSchema,
} from './webhook-events.ts';

const envelope = <const Name extends string, Data extends z.ZodObject>(name: Name, data: Data) => {
  const { api_version, event_id, event, ...members } = envelopeMembers(name);
  return z.object({ api_version, event_id, event, account_id: idSchema('usr'), ...members, data });
};

/** Envelopes that an account's receiver can get, by their `event`. */
export const accountEventSchema = z.discriminatedUnion('event', [
  envelope(
    'wallet.low',
    z.object({ balance_micros: microsSchema, below_micros: nonNegativeMicrosSchema, currency: currencySchema }),
  ),
  envelope(
    'wallet.topped_up',
    z.object({
      amount_micros: nonNegativeMicrosSchema,
      balance_micros: microsSchema,
      currency: currencySchema,
      source: topUpSourceSchema,
    }),
  ),
  envelope('wallet.top_up_failed', autoTopUpFailureSchema.omit({ svc_user_id: true })),
  envelope('api_key.created', z.object({ key_id: idSchema('key'), name: z.string(), prefix: z.string() })),
  envelope(
    'api_key.limit_reached',
    z.object({
      key_id: idSchema('key'),
      name: z.string(),
      spent_micros: nonNegativeMicrosSchema,
      limit_micros: nonNegativeMicrosSchema,
      resets_at: timestampSchema,
    }),
  ),
  envelope(
    'subscription.changed',
    z.object({
      status: subscriptionStatusSchema,
      plan: planReferenceSchema.nullable(),
      current_period_end: timestampSchema,
      revision: z.int().min(1),
    }),
  ),
  envelope('account.test', z.object({})),
]);

export type AccountEvent = z.infer<typeof accountEventSchema>;

export const accountEventNames = accountEventSchema.options.map(({ shape }) => shape.event.value);

/** A stored event as its account sees it. */
export const accountEventRecordSchema = eventRecordOf(accountEventNames).meta({ id: 'AccountEventRecord' });

/** A page of the account's event list. */
export const accountEventListSchema = pageOf(accountEventRecordSchema).extend(eventListMembers);

/** A stored event with its body and every attempt. */
export const accountEventDetailSchema = accountEventRecordSchema
  .extend(eventDetailMembers)
  .meta({ id: 'AccountEventDetail' });

/** Query of the account's event list. */
export const listAccountEventsQuerySchema = eventListQueryOf(accountEventNames);

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
    role: 'admin',
    audit: 'webhook.configured',
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
    role: 'admin',
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
    role: 'admin',
    audit: 'webhook.deleted',
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
    role: 'admin',
    audit: 'webhook.secret_rotated',
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
    role: 'admin',
    audit: 'webhook.tested',
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
    role: 'admin',
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
    role: 'admin',
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
    role: 'admin',
    audit: 'webhook.event_sent',
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
    role: 'admin',
    audit: 'webhook.event_recovered',
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
