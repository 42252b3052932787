import { z } from 'zod';
import { clientIdSchema, idSchema, pathIdSchema } from '../core/ids.ts';
import { PENDING_REQUESTS_MAX } from '../core/limits.ts';
import { nonNegativeMicrosSchema } from '../core/money.ts';
import { timestampSchema } from '../core/time.ts';
import { appUsageSchema } from './app-budgets.ts';
import { planReferenceSchema, planServicesSchema } from './plans.ts';
import { subscriptionStatusSchema } from './subscriptions.ts';

const settings = {
  enabled: z.boolean(),
  monthly_max_micros: nonNegativeMicrosSchema.meta({
    description: 'Ceiling of extra use in a calendar month (UTC).',
  }),
};

/** Setting of extra use: whether the wallet pays for apps once a cap of the plan is reached. */
export const extraUsageRequestSchema = z.strictObject(settings).meta({ id: 'ExtraUsageRequest' });

export type ExtraUsageRequest = z.infer<typeof extraUsageRequestSchema>;

/** Setting of extra use, with the use of this month. */
export const extraUsageSchema = z
  .object({
    ...settings,
    used_micros: nonNegativeMicrosSchema.meta({
      description: 'Paid by the wallet this month, without running requests.',
    }),
    resets_at: timestampSchema.meta({ description: 'Start of the next month (UTC).' }),
  })
  .meta({ id: 'ExtraUsage' });

export type ExtraUsage = z.infer<typeof extraUsageSchema>;

/** Extra use as shown to apps. */
export const appExtraUsageSchema = z
  .object({
    enabled: z.boolean().meta({ description: 'True if the wallet pays once a cap is reached.' }),
    used_micros: nonNegativeMicrosSchema.meta({ description: 'Of all apps in the current calendar month (UTC).' }),
    limit_micros: nonNegativeMicrosSchema.meta({ description: 'Ceiling of the month.' }),
  })
  .meta({ id: 'AppExtraUsage' });

/** Reason why extra use does not pay a request that a cap refuses. */
export const extraRefusalSchema = z.object({ reason: z.enum(['ceiling', 'wallet']) });

/** Payer of a request. */
export const payerSchema = z.enum(['plan', 'wallet']);

export type Payer = z.infer<typeof payerSchema>;

export const windowUsageSchema = z.object({
  used_percent: z.int().min(0).max(100).meta({ description: '100 means that the cap has been reached.' }),
  used_micros: nonNegativeMicrosSchema,
  limit_micros: nonNegativeMicrosSchema,
  resets_at: timestampSchema,
});

/** Shared limits and usage of an account. Without a subscription, its fields are null. */
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

export type Usage = z.infer<typeof usageSchema>;

/** Shared limits and usage of an account, with its extra use. */
export const accountUsageSchema = usageSchema.extend({ extra: appExtraUsageSchema });

export type AccountUsage = z.infer<typeof accountUsageSchema>;

/** Shared limits and usage of an account, with its extra use and the app's own use. */
export const integrationUsageSchema = accountUsageSchema
  .extend({ app: appUsageSchema })
  .meta({ id: 'IntegrationUsage' });

export type IntegrationUsage = z.infer<typeof integrationUsageSchema>;

export const reservationStateSchema = z.enum(['reserved', 'settled', 'released', 'uncertain']);

export type ReservationState = z.infer<typeof reservationStateSchema>;

/** State and cost of a request. */
export const requestUsageSchema = z
  .object({
    request_id: idSchema('req'),
    state: reservationStateSchema,
    cost_micros: nonNegativeMicrosSchema.nullable(),
    paid_by: payerSchema.meta({ description: '`wallet` for extra use beyond a cap of the plan.' }),
    created_at: timestampSchema,
    settled_at: timestampSchema.nullable(),
  })
  .meta({ id: 'RequestUsage' });

/** State and cost of a request. `cost_micros` is null while the cost is unknown. */
export const requestStateSchema = z.object({
  state: reservationStateSchema,
  cost_micros: nonNegativeMicrosSchema.nullable(),
});

export type RequestState = z.infer<typeof requestStateSchema>;

/** `{request_id}` in a path. */
export const requestIdParams = z.object({ request_id: pathIdSchema });

/** Longest history in days, including today. */
export const USAGE_HISTORY_DAYS_MAX = 366;
/** Apps listed per day. */
export const USAGE_HISTORY_APPS_MAX = 20;

export const usageHistoryQuerySchema = z.object({
  days: z.int().min(1).max(USAGE_HISTORY_DAYS_MAX).default(30).meta({ description: 'UTC days up to today.' }),
});

const useSchema = z.object({ requests: z.int().min(0), cost_micros: nonNegativeMicrosSchema });

/** Use on one UTC day. A request counts on the day of its admission, once it is settled. */
export const dailyUseSchema = z
  .object({
    day: z.iso.date().meta({ description: 'In UTC.' }),
    ...useSchema.shape,
    services: z.object({ chat: useSchema, audio_transcription: useSchema }),
    apps: z
      .array(z.object({ client_id: clientIdSchema, ...useSchema.shape }))
      .max(USAGE_HISTORY_APPS_MAX)
      .meta({ description: 'Most expensive first. Use by any further apps is in the total only.' }),
  })
  .meta({ id: 'DailyUse' });

export type DailyUse = z.infer<typeof dailyUseSchema>;

/** Use of the subscription by UTC day, oldest first, including days without use. */
export const usageHistorySchema = z.object({ data: z.array(dailyUseSchema) }).meta({ id: 'UsageHistory' });
