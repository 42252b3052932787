import { z } from 'zod';
import { revocationReasonSchema } from '../auth/connections.ts';
import { endedStatusSchema, subscriptionSnapshotSchema } from '../billing/subscriptions.ts';
import { idSchema } from '../core/ids.ts';
import { pageOf, pageQuery } from '../core/route.ts';
import { timestampSchema, unixSecondsSchema } from '../core/time.ts';

/** `api_version` of every envelope. */
export const WEBHOOK_API_VERSION = '2026-10-01';

/** Signature header of a delivery: `t=<unix seconds>,v1=<hex HMAC-SHA256>`. */
export const WEBHOOK_SIGNATURE_HEADER = 'x-svc-signature';

/** Headers of a delivery according to the Standard Webhooks specification. */
export const STANDARD_WEBHOOK_HEADERS = {
  id: 'webhook-id',
  timestamp: 'webhook-timestamp',
  signature: 'webhook-signature',
} as const;

/** Members of every envelope, but the owner of the lane and the data. */
export const envelopeMembers = <const Name extends string>(name: Name) => ({
  api_version: z.literal(WEBHOOK_API_VERSION),
  event_id: idSchema('evt'),
  event: z.literal(name),
  sequence: z.int().min(1),
  created: unixSecondsSchema,
});

const envelope = <const Name extends string, Data extends z.ZodObject>(name: Name, data: Data) => {
  const { api_version, event_id, event, ...members } = envelopeMembers(name);
  return z.object({
    api_version,
    event_id,
    event,
    integration_id: idSchema('app'),
    ...members,
    user: z.object({ svc_user_id: idSchema('usr') }),
    data,
  });
};

/** Envelopes that an app's receiver can get, by their `event`. */
export const webhookEventSchema = z.discriminatedUnion('event', [
  envelope('integration.connected', z.object({ scope: z.string(), connected_at: timestampSchema })),
  envelope('integration.revoked', z.object({ reason: revocationReasonSchema, revoked_at: timestampSchema })),
  envelope('subscription.updated', subscriptionSnapshotSchema),
  envelope(
    'subscription.ended',
    z.object({ status: endedStatusSchema, ended_at: timestampSchema, revision: z.int().min(1) }),
  ),
  envelope('integration.test', z.object({ message: z.string() })),
]);

export type WebhookEvent = z.infer<typeof webhookEventSchema>;

export const webhookEventNames = webhookEventSchema.options.map(({ shape }) => shape.event.value);

export const webhookEventStatusSchema = z.enum(['queued', 'delivering', 'delivered', 'failed', 'skipped', 'cancelled']);

export type WebhookEventStatus = z.infer<typeof webhookEventStatusSchema>;

const deliveryAttemptSchema = z.object({
  at: timestampSchema,
  status_code: z.int().nullable(),
  error: z.string().nullable(),
  duration_ms: z.int(),
});

/** Defines a stored event as its owner sees it. */
export const eventRecordOf = <const Name extends string>(names: readonly Name[]) =>
  z.object({
    event_id: idSchema('evt'),
    event: z.enum(names),
    sequence: z.int(),
    generation: z.int(),
    status: webhookEventStatusSchema,
    attempts: z.int(),
    created: unixSecondsSchema,
    next_attempt_at: timestampSchema.nullable(),
    delivered_at: timestampSchema.nullable(),
    last_attempt: deliveryAttemptSchema.nullable(),
  });

/** Members of a stored event's details: its body and every attempt. */
export const eventDetailMembers = {
  payload: z.string().meta({ description: 'The body as sent.' }),
  attempt_log: z.array(deliveryAttemptSchema).meta({ description: 'Every attempt, oldest first.' }),
};

/** Member of a page of the owner's event list. */
export const eventListMembers = {
  generation: z.int().nullable().meta({ description: 'Generation of the configuration; null without a webhook.' }),
};

/** A stored event as the app's owner sees it. */
export const webhookEventRecordSchema = eventRecordOf(webhookEventNames).meta({ id: 'WebhookEventRecord' });

export type WebhookEventRecord = z.infer<typeof webhookEventRecordSchema>;

/** A page of the owner's event list. */
export const webhookEventListSchema = pageOf(webhookEventRecordSchema).extend(eventListMembers);

/** A stored event with its body and every attempt. */
export const webhookEventDetailSchema = webhookEventRecordSchema
  .extend(eventDetailMembers)
  .meta({ id: 'WebhookEventDetail' });

export type WebhookEventDetail = z.infer<typeof webhookEventDetailSchema>;

const sequenceBoundSchema = z.int().min(0);

/** Defines the query of an owner's event list. */
export const eventListQueryOf = <const Name extends string>(names: readonly Name[]) =>
  z.object({
    ...pageQuery,
    status: webhookEventStatusSchema.optional(),
    event: z.enum(names).optional(),
    after_sequence: sequenceBoundSchema.optional(),
    before_sequence: sequenceBoundSchema.optional(),
  });

/** Query of the app owner's event list. */
export const listWebhookEventsQuerySchema = eventListQueryOf(webhookEventNames);

/** Query of the app's own event list. */
export const listOwnWebhookEventsQuerySchema = z.object({
  after_sequence: sequenceBoundSchema.default(0),
  limit: pageQuery.limit,
});

/** A stored event as the app's receiver fetches it. */
export const ownWebhookEventSchema = webhookEventDetailSchema
  .pick({
    event_id: true,
    event: true,
    sequence: true,
    generation: true,
    created: true,
    status: true,
    payload: true,
  })
  .meta({ id: 'OwnWebhookEvent' });

export type OwnWebhookEvent = z.infer<typeof ownWebhookEventSchema>;

/** A queued test event. */
export const testQueuedSchema = z
  .object({ status: z.literal('queued'), event_id: idSchema('evt') })
  .meta({ id: 'TestQueued' });

/** Recovery of a failed event. */
export const recoverRequestSchema = z
  .strictObject({ action: z.enum(['retry', 'skip']) })
  .meta({ id: 'WebhookRecovery' });
