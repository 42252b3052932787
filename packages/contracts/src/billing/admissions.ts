import { z } from 'zod';
import { idSchema } from '../core/ids.ts';
import { nonNegativeMicrosSchema } from '../core/money.ts';
import { timestampSchema } from '../core/time.ts';
import { reservationStateSchema } from './usage.ts';
import { keyWalletSchema } from './wallets.ts';

/** Gateway process that will serve the request. Gateways of the previous release omit it. */
const holderIdSchema = z.uuid().optional();

/** Kinds of delegated inference, as in plans. */
export const delegatedServiceSchema = z.enum(['chat', 'audio_transcription']);

/** Admission of a delegated request. Idempotent by `request_id`. */
export const delegatedAdmissionRequestSchema = z.object({
  kind: z.literal('delegated'),
  request_id: idSchema('req'),
  svc_user_id: idSchema('usr'),
  client_id: idSchema('app'),
  service: delegatedServiceSchema,
  estimate_micros: nonNegativeMicrosSchema.meta({ description: 'Cost charged if the outcome stays unknown.' }),
  hold_micros: nonNegativeMicrosSchema.optional().meta({
    description: "Maximum cost, held from the app's budget. Default: the estimate.",
  }),
  hold_min_micros: nonNegativeMicrosSchema.optional().meta({
    description: 'Smallest useful hold, if the gateway can limit the output. Default: `hold_micros`.',
  }),
  idempotency_key: z.string().min(1).max(255).optional(),
  holder_id: holderIdSchema,
});

/** Admission of an API-key request, which holds its maximum cost in the wallet. */
export const keyAdmissionRequestSchema = z.object({
  kind: z.literal('api_key'),
  request_id: idSchema('req'),
  svc_user_id: idSchema('usr'),
  key_id: idSchema('key'),
  hold_micros: nonNegativeMicrosSchema,
  estimate_micros: nonNegativeMicrosSchema.optional().meta({
    description: 'Hold that remains if the holder dies without reporting a cost. Default: the whole hold.',
  }),
  requests_per_minute: z.int().min(1).nullable(),
  tokens_per_minute: z.int().min(1).nullish(),
  monthly_limit_micros: nonNegativeMicrosSchema.nullable(),
  tokens: z
    .int()
    .min(0)
    .optional()
    .meta({ description: 'Upper bound of its tokens, reserved from the limit per minute.' }),
  tokens_least: z.int().min(0).optional().meta({
    description: 'Fewest tokens that can serve the request; lower than `tokens` if it sets no output limit.',
  }),
  idempotency_key: z.string().min(1).max(255).optional(),
  holder_id: holderIdSchema,
});

/** Check if a key can spend anything, made before the size of its request is known. */
export const keyStandingRequestSchema = keyAdmissionRequestSchema.pick({
  key_id: true,
  requests_per_minute: true,
  tokens_per_minute: true,
  monthly_limit_micros: true,
});

export type KeyStandingRequest = z.infer<typeof keyStandingRequestSchema>;

export const admissionRequestSchema = z.discriminatedUnion('kind', [
  delegatedAdmissionRequestSchema,
  keyAdmissionRequestSchema,
]);

export type AdmissionRequest = z.infer<typeof admissionRequestSchema>;

/** Requests or tokens that an API key has left in this minute, after the decision. */
export const rateLimitStateSchema = z.object({
  limit: z.int(),
  remaining: z.int(),
  reset_ms: z.int().min(0),
});

/** Billing's decision. A refusal carries the error code for the caller. */
export const admissionSchema = z.object({
  verdict: z.enum([
    'admitted',
    'subscription_inactive',
    'subscription_service_not_included',
    'weekly_limit_exceeded',
    'monthly_limit_exceeded',
    'subscription_requests_pending',
    'connection_paused',
    'app_budget_expired',
    'app_limit_exceeded',
    'app_requests_pending',
    'duplicate_request',
    'insufficient_balance',
    'rate_limit_exceeded',
    'key_monthly_limit_exceeded',
  ]),
  resets_at: timestampSchema.optional(),
  duplicate_of: z.object({ request_id: idSchema('req'), state: reservationStateSchema }).optional(),
  rate_limit: rateLimitStateSchema.optional(),
  hold_micros: nonNegativeMicrosSchema.optional().meta({
    description: "Hold of an admitted delegated request, if the app's budget covers less than requested.",
  }),
  token_limit: rateLimitStateSchema.optional(),
});

export type Admission = z.infer<typeof admissionSchema>;

/** Requests per call. */
export const ADMISSIONS_MAX = 64;

/** Requests to admit or refuse independently. */
export const admissionsRequestSchema = z.object({
  requests: z.array(admissionRequestSchema).min(1).max(ADMISSIONS_MAX),
});

/** Decisions in the order of the requests; null if a decision failed. */
export const admissionsSchema = z.object({ decisions: z.array(admissionSchema.nullable()) });

/** Spending of API keys this month (UTC), in the given order, and the available balance of the account's wallet. */
export const keySpendingSchema = z.object({
  spent_this_month_micros: z.array(nonNegativeMicrosSchema).max(100),
  wallet: keyWalletSchema,
});

export type KeySpending = z.infer<typeof keySpendingSchema>;

/** Outcome of a request from the gateway's point of view. */
export const requestOutcomeSchema = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('settled'), cost_micros: nonNegativeMicrosSchema }),
  z.object({ outcome: z.literal('released') }),
  z.object({ outcome: z.literal('uncertain') }),
]);

export type RequestOutcome = z.infer<typeof requestOutcomeSchema>;

/** Outcomes of requests. Idempotent: a repeated report changes nothing. */
export const settlementsRequestSchema = z.object({
  settlements: z
    .array(z.object({ request_id: idSchema('req'), result: requestOutcomeSchema }))
    .min(1)
    .max(500),
});

export type SettlementsRequest = z.infer<typeof settlementsRequestSchema>;

/** State of each request after the report; null for one that billing never admitted. */
export const settlementsSchema = z.object({
  results: z.array(z.object({ request_id: z.string(), state: reservationStateSchema.nullable() })),
});
