import { z } from 'zod';
import { clientIdSchema, idSchema } from '../core/ids.ts';
import { nonNegativeMicrosSchema } from '../core/money.ts';
import { timestampSchema } from '../core/time.ts';
import { extraRefusalSchema, reservationStateSchema } from './usage.ts';
import { keyWalletSchema } from './wallets.ts';

/** Gateway process that will serve the request. Without one, the reservation becomes uncertain by its age. */
const holderIdSchema = z.uuid().optional();

/** Kinds of delegated inference, as in plans. */
export const delegatedServiceSchema = z.enum(['chat', 'audio_transcription']);

/** Admission of a delegated request. Idempotent by `request_id`. */
export const delegatedAdmissionRequestSchema = z.object({
  request_id: idSchema('req'),
  svc_user_id: idSchema('usr'),
  client_id: clientIdSchema,
  service: delegatedServiceSchema,
  estimate_micros: nonNegativeMicrosSchema.meta({ description: 'Cost charged if the outcome stays unknown.' }),
  hold_micros: nonNegativeMicrosSchema.optional().meta({
    description: "Maximum cost, held from the app's budget, and by extra use from the wallet. Default: the estimate.",
  }),
  hold_min_micros: nonNegativeMicrosSchema.optional().meta({
    description: 'Smallest useful hold, if the gateway can limit the output. Default: `hold_micros`.',
  }),
  idempotency_key: z.string().min(1).max(255).optional(),
  holder_id: holderIdSchema,
});

export type DelegatedAdmissionRequest = z.infer<typeof delegatedAdmissionRequestSchema>;

/** Error codes of refused delegated requests. */
export const admissionRefusals = [
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
] as const;

/** Billing's decision on a delegated request. A refusal carries the error code for the caller. */
export const admissionSchema = z.object({
  verdict: z.enum(['admitted', ...admissionRefusals]),
  resets_at: timestampSchema.optional(),
  duplicate_of: z.object({ request_id: idSchema('req'), state: reservationStateSchema }).optional(),
  hold_micros: nonNegativeMicrosSchema.optional().meta({
    description: "Hold of an admitted delegated request, if the app's budget or extra use covers less than requested.",
  }),
  extra: extraRefusalSchema.optional().meta({ description: 'On a refusal by a cap, if extra use is on.' }),
});

export type Admission = z.infer<typeof admissionSchema>;

/** Requests per call. */
export const ADMISSIONS_MAX = 64;

/** Requests to admit or refuse independently. */
export const admissionsRequestSchema = z.object({
  requests: z.array(delegatedAdmissionRequestSchema).min(1).max(ADMISSIONS_MAX),
});

/** Decisions in the order of the requests; null for one that is undecided, because its account is locked or it failed. Ask again. */
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

/** Part of a lease that a request has spent: what it held at most. */
export const spentLeaseSchema = z.object({ lease_id: z.uuid(), hold_micros: nonNegativeMicrosSchema });

export type SpentLease = z.infer<typeof spentLeaseSchema>;

/** Outcomes of requests. Idempotent: a repeated report changes nothing. */
export const settlementsRequestSchema = z.object({
  settlements: z
    .array(
      z.object({
        request_id: idSchema('req'),
        svc_user_id: idSchema('usr'),
        result: requestOutcomeSchema,
        key: spentLeaseSchema
          .extend({ key_id: idSchema('key'), started_at: timestampSchema, estimate_micros: nonNegativeMicrosSchema })
          .optional()
          .meta({ description: 'For an API-key request. The estimate is charged if its outcome stays unknown.' }),
      }),
    )
    .min(1)
    .max(500),
});

export type SettlementsRequest = z.infer<typeof settlementsRequestSchema>;

/** State of each request after the report; null for one that billing never admitted. */
export const settlementsSchema = z.object({
  results: z.array(z.object({ request_id: z.string(), state: reservationStateSchema.nullable() })),
});
