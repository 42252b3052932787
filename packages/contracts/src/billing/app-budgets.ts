import { z } from 'zod';
import { clientIdSchema } from '../core/ids.ts';
import { currencySchema, nonNegativeMicrosSchema } from '../core/money.ts';
import { timestampInputSchema, timestampSchema } from '../core/time.ts';

/** Period of an app's budget: a window of the subscription, or `total` since a limit was first set. */
export const budgetPeriodSchema = z.enum(['week', 'month', 'total']);

/** Limit that a user sets on an app's use of their plan. */
export const budgetLimitSchema = z
  .strictObject({
    limit_micros: nonNegativeMicrosSchema,
    period: budgetPeriodSchema,
    expires_at: timestampInputSchema.nullish(),
  })
  .meta({ id: 'BudgetLimit' });

export type BudgetLimit = z.infer<typeof budgetLimitSchema>;

/** An app's budget, with its use. */
export const appBudgetSchema = z
  .object({
    limit_micros: nonNegativeMicrosSchema,
    currency: currencySchema,
    period: budgetPeriodSchema,
    used_micros: nonNegativeMicrosSchema,
    resets_at: timestampSchema.nullable().meta({ description: 'Null for `total`, and before the first subscription.' }),
    expires_at: timestampSchema.nullable(),
  })
  .meta({ id: 'AppBudget' });

export type AppBudget = z.infer<typeof appBudgetSchema>;

/** An app's own use of the plan. Without a budget, the last four fields are null. */
export const appUsageSchema = z
  .object({
    paused: z.boolean(),
    used_micros: nonNegativeMicrosSchema.meta({
      description: 'In the budget’s period; without a budget, in the current week.',
    }),
    held_micros: nonNegativeMicrosSchema.meta({
      description: 'Held from the budget for requests whose cost is not final.',
    }),
    limit_micros: nonNegativeMicrosSchema.nullable(),
    period: budgetPeriodSchema.nullable(),
    resets_at: timestampSchema.nullable(),
    expires_at: timestampSchema.nullable(),
  })
  .meta({ id: 'AppUsage' });

export type AppUsage = z.infer<typeof appUsageSchema>;

/** Typical use of an app, over all its users. */
export const typicalUseSchema = z.object({
  week_share_percent: z.int().min(0).max(100).nullable().meta({
    description: 'Median share of the weekly limit of a plan that its users spend on it. Null below 20 users.',
  }),
});

/** Terms under which an app may use a user's plan. */
export const appTermsSchema = z.object({ paused: z.boolean(), budget: appBudgetSchema.nullable() });

export type AppTerms = z.infer<typeof appTermsSchema>;

/** Change of an app's terms. Absent fields stay unchanged. */
export const appTermsChangeSchema = z.object({
  budget: budgetLimitSchema.nullable().optional(),
  paused: z.boolean().optional(),
});

export type AppTermsChange = z.infer<typeof appTermsChangeSchema>;

/** Terms of all apps that have a limit or are paused. */
export const appTermsListSchema = z.object({
  data: z.array(appTermsSchema.extend({ client_id: clientIdSchema })),
});
