import { z } from 'zod';
import { nonNegativeMicrosSchema } from '../core/money.ts';
import { timestampSchema } from '../core/time.ts';

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
