import { z } from 'zod';

const timestampSchema = z.iso.datetime();

/** Which kinds of inference are available. */
export const servicesSchema = z.object({ chat: z.boolean(), audio_transcription: z.boolean() });

/** What the service and the user's plan allow. */
export const capabilitiesSchema = z.object({ object: z.literal('capabilities'), services: servicesSchema });

/** What the service and the user's plan allow. */
export type Capabilities = z.infer<typeof capabilitiesSchema>;

/** The payment provider's names of a subscription's state. */
export const subscriptionStatusSchema = z.enum([
  'incomplete',
  'incomplete_expired',
  'trialing',
  'active',
  'past_due',
  'canceled',
  'unpaid',
  'paused',
]);

/** A plan's name. */
export const planReferenceSchema = z.object({ id: z.string(), name: z.string() });

const windowSchema = z.object({
  used_percent: z.int(),
  used_micros: z.int(),
  limit_micros: z.int(),
  resets_at: timestampSchema,
});

/** Shared limits and use of the user's subscription, over all apps. Money is in millionths. */
export const usageSchema = z.object({
  status: subscriptionStatusSchema.nullable(),
  plan: planReferenceSchema.nullable(),
  period: z.object({ start: timestampSchema, end: timestampSchema }).nullable(),
  weekly: windowSchema.nullable(),
  monthly: windowSchema.nullable(),
  pending_requests: z.int(),
  max_pending_requests: z.int(),
  services: servicesSchema,
});

/** Shared limits and use of the user's subscription; null parts where there is none. */
export type Usage = z.infer<typeof usageSchema>;

/** What became of a request. */
export const requestUsageSchema = z.object({
  request_id: z.string(),
  state: z.enum(['reserved', 'settled', 'released', 'uncertain']),
  cost_micros: z.int().nullable(),
  created_at: timestampSchema,
  settled_at: timestampSchema.nullable(),
});

/**
 * What became of a request: `reserved` runs still, `settled` cost `cost_micros`, `released` cost nothing, and of `uncertain`
 * nobody knows yet.
 */
export type RequestUsage = z.infer<typeof requestUsageSchema>;
