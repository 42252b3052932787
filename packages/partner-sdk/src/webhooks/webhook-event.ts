import { z } from 'zod';
import { webhookEventSchema } from '../generated/contract.ts';

const [anyEventSchema] = webhookEventSchema.options;

/** Envelope of every event, including kinds that this release does not know. */
export const webhookEnvelopeSchema = anyEventSchema.extend({ event: z.string(), data: z.looseObject({}) });

export type WebhookEnvelope = z.infer<typeof webhookEnvelopeSchema>;

/**
 * An event; narrow it by `event`. `created` is in Unix seconds. `sequence` grows by one with each event of an app: a
 * gap is an event that was skipped, cancelled, or has not arrived yet.
 */
export type WebhookEvent = z.infer<typeof webhookEventSchema>;
