import { z } from 'zod';
import { revocationReasonSchema } from '../auth/connections.ts';
import { endedStatusSchema, subscriptionSnapshotSchema } from '../billing/subscriptions.ts';
import { idSchema } from '../core/ids.ts';
import { timestampSchema, unixSecondsSchema } from '../core/time.ts';

/** `api_version` of every envelope. */
export const WEBHOOK_API_VERSION = '2026-10-01';

/** Header with a delivery's signature: `t=<unix seconds>,v1=<hex HMAC-SHA256>`. */
export const WEBHOOK_SIGNATURE_HEADER = 'x-svc-signature';

const envelope = <const Name extends string, Data extends z.ZodObject>(name: Name, data: Data) =>
  z.object({
    api_version: z.literal(WEBHOOK_API_VERSION),
    event_id: idSchema('evt'),
    event: z.literal(name),
    integration_id: idSchema('app'),
    sequence: z.int().min(1),
    created: unixSecondsSchema,
    user: z.object({ svc_user_id: idSchema('usr') }),
    data,
  });

/** Every envelope that a receiver can get, by its `event`. */
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

/** States of a stored event. */
export const webhookEventStatusSchema = z.enum(['queued', 'delivering', 'delivered', 'failed', 'skipped', 'cancelled']);

export type WebhookEventStatus = z.infer<typeof webhookEventStatusSchema>;

/** A stored event as the app's owner sees it. */
export const webhookEventRecordSchema = z
  .object({
    event_id: idSchema('evt'),
    event: z.enum(webhookEventNames),
    sequence: z.int(),
    generation: z.int(),
    status: webhookEventStatusSchema,
    attempts: z.int(),
    created: unixSecondsSchema,
    next_attempt_at: timestampSchema.nullable(),
    delivered_at: timestampSchema.nullable(),
    last_attempt: z
      .object({
        at: timestampSchema,
        status_code: z.int().nullable(),
        error: z.string().nullable(),
        duration_ms: z.int(),
      })
      .nullable(),
  })
  .meta({ id: 'WebhookEventRecord' });

/** A stored event as the app's owner sees it. */
export type WebhookEventRecord = z.infer<typeof webhookEventRecordSchema>;

/** A queued test event. */
export const testQueuedSchema = z
  .object({ status: z.literal('queued'), event_id: idSchema('evt') })
  .meta({ id: 'TestQueued' });

/** Recovery of a failed event. */
export const recoverRequestSchema = z
  .strictObject({ action: z.enum(['retry', 'skip']) })
  .meta({ id: 'WebhookRecovery' });
