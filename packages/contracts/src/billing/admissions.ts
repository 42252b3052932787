import { z } from 'zod';
import { idSchema } from '../core/ids.ts';
import { nonNegativeMicrosSchema } from '../core/money.ts';
import { timestampSchema } from '../core/time.ts';
import { reservationStateSchema } from './usage.ts';

/** The gateway process that will serve the request: absent from gateways of the previous release. */
const holderIdSchema = z.uuid().optional();

/** Kinds of delegated inference, as plans include them. */
export const delegatedServiceSchema = z.enum(['chat', 'audio_transcription']);

/** Asks whether a delegated request may be forwarded. Asking again for one admitted request answers the same. */
export const delegatedAdmissionRequestSchema = z.object({
  kind: z.literal('delegated'),
  request_id: idSchema('req'),
  svc_user_id: idSchema('usr'),
  client_id: idSchema('app'),
  service: delegatedServiceSchema,
  estimate_micros: nonNegativeMicrosSchema.meta({ description: 'Settles the request if its outcome stays unknown.' }),
  idempotency_key: z.string().min(1).max(255).optional(),
  holder_id: holderIdSchema,
});

/** Asks whether an API-key request may be forwarded, and holds its highest cost in the wallet. */
export const keyAdmissionRequestSchema = z.object({
  kind: z.literal('api_key'),
  request_id: idSchema('req'),
  svc_user_id: idSchema('usr'),
  key_id: idSchema('key'),
  hold_micros: nonNegativeMicrosSchema,
  estimate_micros: nonNegativeMicrosSchema.optional().meta({
    description: 'Stays of the hold if the holder dies before it reports more; the whole hold if absent.',
  }),
  requests_per_minute: z.int().min(1).nullable(),
  monthly_limit_micros: nonNegativeMicrosSchema.nullable(),
  holder_id: holderIdSchema,
});

/** Asks whether a key may spend anything, before the size of its request is known. */
export const keyStandingRequestSchema = keyAdmissionRequestSchema.pick({
  key_id: true,
  requests_per_minute: true,
  monthly_limit_micros: true,
});

/** Asks whether a key may spend anything, before the size of its request is known. */
export type KeyStandingRequest = z.infer<typeof keyStandingRequestSchema>;

/** Asks billing whether money may be spent on a request. */
export const admissionRequestSchema = z.discriminatedUnion('kind', [
  delegatedAdmissionRequestSchema,
  keyAdmissionRequestSchema,
]);

/** Asks billing whether money may be spent on a request. */
export type AdmissionRequest = z.infer<typeof admissionRequestSchema>;

/** The minute's budget of an API key after this decision. */
export const rateLimitStateSchema = z.object({
  limit: z.int(),
  remaining: z.int(),
  reset_ms: z.int().min(0),
});

/** Billing's decision. Every refusal is named by the error code that the caller is given. */
export const admissionSchema = z.object({
  verdict: z.enum([
    'admitted',
    'subscription_inactive',
    'subscription_service_not_included',
    'weekly_limit_exceeded',
    'monthly_limit_exceeded',
    'subscription_requests_pending',
    'duplicate_request',
    'insufficient_balance',
    'rate_limit_exceeded',
    'key_monthly_limit_exceeded',
  ]),
  resets_at: timestampSchema.optional(),
  duplicate_of: z.object({ request_id: idSchema('req'), state: reservationStateSchema }).optional(),
  rate_limit: rateLimitStateSchema.optional(),
});

/** Billing's decision. */
export type Admission = z.infer<typeof admissionSchema>;

/** Outcome of a request from the gateway's point of view. */
export const requestOutcomeSchema = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('settled'), cost_micros: nonNegativeMicrosSchema }),
  z.object({ outcome: z.literal('released') }),
  z.object({ outcome: z.literal('uncertain') }),
]);

/** Outcome of a request from the gateway's point of view. */
export type RequestOutcome = z.infer<typeof requestOutcomeSchema>;

/** Reports outcomes of requests; a repeated report changes nothing. */
export const settlementsRequestSchema = z.object({
  settlements: z
    .array(z.object({ request_id: idSchema('req'), result: requestOutcomeSchema }))
    .min(1)
    .max(500),
});

/** State of each request after the report; null for one that billing never admitted. */
export const settlementsSchema = z.object({
  results: z.array(z.object({ request_id: z.string(), state: reservationStateSchema.nullable() })),
});
