import { z } from 'zod';
import { idSchema } from '../core/ids.ts';
import { currencySchema, nonNegativeMicrosSchema } from '../core/money.ts';
import { timestampInputSchema, timestampSchema } from '../core/time.ts';

/** Spans over which an app's budget is counted: windows of the subscription, or the time since a limit was first set. */
export const budgetPeriodSchema = z.enum(['week', 'month', 'total']);

/** The limit of an app's use of a person's plan, as the person sets it. */
export const budgetLimitSchema = z
  .strictObject({
    limit_micros: nonNegativeMicrosSchema,
    period: budgetPeriodSchema,
    expires_at: timestampInputSchema.nullish(),
  })
  .meta({ id: 'BudgetLimit' });

export type BudgetLimit = z.infer<typeof budgetLimitSchema>;

/** An app's budget and its use. */
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

/** An app's own use of the plan. The last four fields are null without a budget. */
export const appUsageSchema = z
  .object({
    paused: z.boolean(),
    used_micros: nonNegativeMicrosSchema.meta({ description: 'In the budget’s period; in the week without a budget.' }),
    held_micros: nonNegativeMicrosSchema.meta({ description: 'Held of the budget for requests whose cost is open.' }),
    limit_micros: nonNegativeMicrosSchema.nullable(),
    period: budgetPeriodSchema.nullable(),
    resets_at: timestampSchema.nullable(),
    expires_at: timestampSchema.nullable(),
  })
  .meta({ id: 'AppUsage' });

export type AppUsage = z.infer<typeof appUsageSchema>;

/** Terms under which an app may use a person's plan. */
export const appTermsSchema = z.object({ paused: z.boolean(), budget: appBudgetSchema.nullable() });

export type AppTerms = z.infer<typeof appTermsSchema>;

/** Change of an app's terms; what is absent stays. */
export const appTermsChangeSchema = z.object({
  budget: budgetLimitSchema.nullable().optional(),
  paused: z.boolean().optional(),
});

export type AppTermsChange = z.infer<typeof appTermsChangeSchema>;

/** Terms of all apps that have a limit or are paused. */
export const appTermsListSchema = z.object({
  data: z.array(appTermsSchema.extend({ client_id: idSchema('app') })),
});
