import { z } from 'zod';
import { idSchema } from '../core/ids.ts';
import { nonNegativeMicrosSchema } from '../core/money.ts';
import { timestampSchema } from '../core/time.ts';
import { reservationStateSchema } from './usage.ts';

/** Longest time that a gateway spends from a lease after it has asked billing for it. */
export const LEASE_MS = 5_000;

/** A lease whose holder has not reported it for this long has ended. */
export const LEASE_SILENCE_SECONDS = 10;

/** Leases per call. */
export const LEASES_MAX = 200;

/** Requests per lease and call. */
export const LEASE_NEEDS_MAX = 64;

const countSchema = z.int().min(0);

/** Part of a key's minute, as cumulative sums of one lease. `id` names the minute. */
const leaseMinuteSchema = z.object({ id: countSchema, requests: countSchema, tokens: countSchema });

/**
 * State of a lease at its holder. Sums are cumulative since the lease began, so that a report that is lost, repeated or
 * overtaken does no harm.
 */
export const leaseReportSchema = z.object({
  returned_micros: nonNegativeMicrosSchema,
  known_micros: nonNegativeMicrosSchema.meta({
    description: 'Cost of its requests so far, ended ones included. Stays charged if the holder dies.',
  }),
  returned_in_minute: leaseMinuteSchema.nullable(),
  is_ended: z.boolean().meta({ description: 'No request runs on the lease, and none will.' }),
});

export type LeaseReport = z.infer<typeof leaseReportSchema>;

/** A request that waits for billing: a lease of one. */
export const leaseNeedSchema = z.object({
  request_id: idSchema('req'),
  micros: nonNegativeMicrosSchema.meta({ description: 'Maximum cost.' }),
  micros_least: nonNegativeMicrosSchema.optional().meta({
    description: 'Smallest useful grant, if the gateway can limit the output. Default: `micros`.',
  }),
  known_micros: nonNegativeMicrosSchema.meta({ description: 'Cost before its answer begins.' }),
  tokens: countSchema.meta({ description: 'Upper bound of its tokens.' }),
  tokens_least: countSchema.meta({
    description: 'Fewest tokens that can serve it; lower than `tokens` if it sets no output limit.',
  }),
  idempotency_key: z.string().min(1).max(255).optional(),
  is_probe: z
    .boolean()
    .optional()
    .meta({ description: 'Decides whether the key can spend anything, and grants nothing.' }),
});

export type LeaseNeed = z.infer<typeof leaseNeedSchema>;

/** Limits of an API key; null without one. */
export const keyLimitsSchema = z.object({
  requests_per_minute: z.int().min(1).nullable(),
  tokens_per_minute: z.int().min(1).nullable(),
  monthly_limit_micros: nonNegativeMicrosSchema.nullable(),
});

export type KeyLimits = z.infer<typeof keyLimitsSchema>;

/** Report of a lease, the requests that wait for it, and the amounts that its key will need soon. */
export const leaseAskSchema = z.object({
  lease_id: z.uuid(),
  svc_user_id: idSchema('usr'),
  key_id: idSchema('key'),
  member_id: idSchema('usr').nullable().meta({
    description: 'Creator of the key, whose keys together may have a monthly limit; null for the account itself.',
  }),
  limits: keyLimitsSchema,
  report: leaseReportSchema,
  needs: z.array(leaseNeedSchema).max(LEASE_NEEDS_MAX),
  wanted: z.object({ micros: nonNegativeMicrosSchema, requests: countSchema, tokens: countSchema }),
  has_unanswered: z.boolean().optional().meta({
    description: 'An earlier ask got no answer and may still arrive. Billing then remembers the end of the lease.',
  }),
});

export type LeaseAsk = z.infer<typeof leaseAskSchema>;

export const leasesRequestSchema = z.object({
  holder_id: z.uuid(),
  asks: z.array(leaseAskSchema).min(1).max(LEASES_MAX),
});

/** Decision on one request. A refusal carries the error code for the caller. */
export const leaseDecisionSchema = z.object({
  verdict: z.enum([
    'granted',
    'insufficient_balance',
    'rate_limit_exceeded',
    'key_monthly_limit_exceeded',
    'member_monthly_limit_exceeded',
    'duplicate_request',
  ]),
  tokens: countSchema.optional().meta({ description: "Tokens granted, if the key's minute limits them." }),
  micros: nonNegativeMicrosSchema.optional().meta({
    description: 'Amount granted, if wallet or month cover less than the maximum cost.',
  }),
  available_micros: nonNegativeMicrosSchema.optional().meta({
    description: 'On a refusal by wallet or month: the smaller of what they have left.',
  }),
  resets_at: timestampSchema.optional(),
  duplicate_of: z.object({ request_id: idSchema('req'), state: reservationStateSchema }).optional(),
});

export type LeaseDecision = z.infer<typeof leaseDecisionSchema>;

/**
 * Billing's answer to an ask. `held`: the lease goes on. `over`: it grants no more, because its month has ended; running
 * requests stay on it. `ended`: billing has ended it. `busy`: its wallet is locked, and nothing has changed.
 */
export const leaseAnswerSchema = z.object({
  state: z.enum(['held', 'over', 'ended', 'busy']),
  granted_micros: nonNegativeMicrosSchema,
  granted_in_minute: leaseMinuteSchema,
  minute_ends_in_ms: countSchema,
  month_ends_in_ms: countSchema,
  requests_left: countSchema.nullable().meta({ description: "Rest of the key's minute beyond all leases." }),
  tokens_left: countSchema.nullable(),
  decisions: z.array(leaseDecisionSchema),
});

export type LeaseAnswer = z.infer<typeof leaseAnswerSchema>;

/** Answers in the order of the asks. */
export const leasesSchema = z.object({ answers: z.array(leaseAnswerSchema) });

/** Leases whose unspent part their holder gives back at once. */
export const leaseRecallSchema = z.object({ lease_ids: z.array(z.uuid()).min(1).max(LEASES_MAX) });

/** Reports of the recalled leases that the holder knows. */
export const recalledLeasesSchema = z.object({
  leases: z.array(z.object({ lease_id: z.uuid(), report: leaseReportSchema })).max(LEASES_MAX),
});

export type RecalledLeases = z.infer<typeof recalledLeasesSchema>;
