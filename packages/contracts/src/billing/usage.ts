import { z } from 'zod';
import { idSchema, pathIdSchema } from '../core/ids.ts';
import { PENDING_REQUESTS_MAX } from '../core/limits.ts';
import { nonNegativeMicrosSchema } from '../core/money.ts';
import { timestampSchema } from '../core/time.ts';
import { planReferenceSchema, planServicesSchema } from './plans.ts';
import { subscriptionStatusSchema } from './subscriptions.ts';

const windowUsageSchema = z.object({
  used_percent: z.int().min(0).max(100).meta({ description: '100 means that the cap is reached.' }),
  used_micros: nonNegativeMicrosSchema,
  limit_micros: nonNegativeMicrosSchema,
  resets_at: timestampSchema,
});

/** Shared limits and usage of an account; null parts where there is no subscription. */
export const usageSchema = z
  .object({
    status: subscriptionStatusSchema.nullable(),
    plan: planReferenceSchema.nullable(),
    period: z.object({ start: timestampSchema, end: timestampSchema }).nullable(),
    weekly: windowUsageSchema.nullable(),
    monthly: windowUsageSchema.nullable(),
    pending_requests: z.int().min(0),
    max_pending_requests: z.literal(PENDING_REQUESTS_MAX),
    services: planServicesSchema,
  })
  .meta({ id: 'Usage' });

/** Shared limits and usage of an account. */
export type Usage = z.infer<typeof usageSchema>;

/** States of a reservation. */
export const reservationStateSchema = z.enum(['reserved', 'settled', 'released', 'uncertain']);

/** One of the states of a reservation. */
export type ReservationState = z.infer<typeof reservationStateSchema>;

/** What became of a request. */
export const requestUsageSchema = z
  .object({
    request_id: idSchema('req'),
    state: reservationStateSchema,
    cost_micros: nonNegativeMicrosSchema.nullable(),
    created_at: timestampSchema,
    settled_at: timestampSchema.nullable(),
  })
  .meta({ id: 'RequestUsage' });

/** `{request_id}` in a path. */
export const requestIdParams = z.object({ request_id: pathIdSchema });
