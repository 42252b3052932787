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

/** Request to admit a delegated request. Repeating it for an admitted request returns the same decision. */
export const delegatedAdmissionRequestSchema = z.object({
  kind: z.literal('delegated'),
  request_id: idSchema('req'),
  svc_user_id: idSchema('usr'),
  client_id: idSchema('app'),
  service: delegatedServiceSchema,
  estimate_micros: nonNegativeMicrosSchema.meta({ description: 'Cost charged if the outcome stays unknown.' }),
  hold_micros: nonNegativeMicrosSchema.optional().meta({
    description: "Highest cost, held of the app's budget; the estimate if absent.",
  }),
  hold_min_micros: nonNegativeMicrosSchema.optional().meta({
    description: 'Smallest hold that is of use, if the gateway can limit the output; `hold_micros` if absent.',
  }),
  idempotency_key: z.string().min(1).max(255).optional(),
  holder_id: holderIdSchema,
});

/** Request to admit an API-key request and hold its maximum cost in the wallet. */
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
  tokens_per_minute: z.int().min(1).nullish(),
  monthly_limit_micros: nonNegativeMicrosSchema.nullable(),
  tokens: z.int().min(0).optional().meta({ description: 'Upper bound of its tokens, reserved of the minute.' }),
  tokens_least: z.int().min(0).optional().meta({
    description: 'Fewest tokens it can be served with; lower than `tokens` for a request without its own output limit.',
  }),
  idempotency_key: z.string().min(1).max(255).optional(),
  holder_id: holderIdSchema,
});

/** Question if a key can spend anything, asked before the size of its request is known. */
export const keyStandingRequestSchema = keyAdmissionRequestSchema.pick({
  key_id: true,
  requests_per_minute: true,
  tokens_per_minute: true,
  monthly_limit_micros: true,
});

export type KeyStandingRequest = z.infer<typeof keyStandingRequestSchema>;

/** Request to admit a request and reserve money for it. */
export const admissionRequestSchema = z.discriminatedUnion('kind', [
  delegatedAdmissionRequestSchema,
  keyAdmissionRequestSchema,
]);

export type AdmissionRequest = z.infer<typeof admissionRequestSchema>;

/** Remaining requests or tokens of an API key in this minute, after the decision. */
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
    description: "Hold of an admitted delegated request: less than asked for if the app's budget covers no more.",
  }),
  token_limit: rateLimitStateSchema.optional(),
});

export type Admission = z.infer<typeof admissionSchema>;

/** Requests that one call decides. */
export const ADMISSIONS_MAX = 64;

/** Requests to admit or refuse, each for itself. */
export const admissionsRequestSchema = z.object({
  requests: z.array(admissionRequestSchema).min(1).max(ADMISSIONS_MAX),
});

/** The decisions in the order of the requests; null for one that could not be decided. */
export const admissionsSchema = z.object({ decisions: z.array(admissionSchema.nullable()) });
/** Spending of API keys this month (UTC), in the given order, and what the account's wallet has available. */
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

/** Reports outcomes of requests; a repeated report changes nothing. */
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
