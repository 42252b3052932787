import { z } from 'zod';
import { planReferenceSchema, servicesSchema, subscriptionStatusSchema } from '../inference/index.ts';

const timestampSchema = z.iso.datetime();

const envelopeFields = {
  api_version: z.string(),
  event_id: z.string().min(1).max(255),
  integration_id: z.string().min(1).max(255),
  /** Grows by one with each event of an app; a gap is a skipped or cancelled event, or one that has not come yet. */
  sequence: z.int().min(1),
  /** Unix seconds. */
  created: z.int().min(0),
  user: z.object({ svc_user_id: z.string().min(1).max(255) }),
};

/** What every event has, also one of a kind that this release does not know. */
export const webhookEnvelopeSchema = z.object({ ...envelopeFields, event: z.string(), data: z.looseObject({}) });

/** An event of any kind. */
export type WebhookEnvelope = z.infer<typeof webhookEnvelopeSchema>;

const kind = <const Name extends string, Data extends z.ZodObject>(name: Name, data: Data) =>
  z.object({ ...envelopeFields, event: z.literal(name), data });

/** Every event that the service sends, by its `event`. */
export const webhookEventSchema = z.discriminatedUnion('event', [
  kind('integration.connected', z.object({ scope: z.string(), connected_at: timestampSchema })),
  kind(
    'integration.revoked',
    z.object({ reason: z.enum(['user_disconnected', 'app_suspended']), revoked_at: timestampSchema }),
  ),
  kind(
    'subscription.updated',
    z.object({
      status: subscriptionStatusSchema,
      plan: planReferenceSchema,
      period: z.object({ start: timestampSchema, end: timestampSchema }),
      cancel_at_period_end: z.boolean(),
      budget: z.object({ weekly_used_percent: z.int(), monthly_used_percent: z.int(), services: servicesSchema }),
      revision: z.int().min(1),
    }),
  ),
  kind(
    'subscription.ended',
    z.object({
      status: z.enum(['canceled', 'unpaid', 'incomplete_expired']),
      ended_at: timestampSchema,
      revision: z.int().min(1),
    }),
  ),
  kind('integration.test', z.object({ message: z.string() })),
]);

/** An event; narrow it by `event`. */
export type WebhookEvent = z.infer<typeof webhookEventSchema>;

/** Names of the events. */
export const webhookEventNames = [
  'integration.connected',
  'integration.revoked',
  'subscription.updated',
  'subscription.ended',
  'integration.test',
] as const satisfies readonly WebhookEvent['event'][];
