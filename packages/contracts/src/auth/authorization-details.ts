import { z } from 'zod';
import { budgetPeriodSchema } from '../billing/app-budgets.ts';
import { currencySchema, nonNegativeMicrosSchema } from '../core/money.ts';
import { timestampInputSchema } from '../core/time.ts';

/** The only supported type of authorization details (RFC 9396 section 2). */
export const INFERENCE_BUDGET = 'inference_budget';

/** A budget of an app: proposed by the app, granted by the user. */
export const inferenceBudgetSchema = z
  .strictObject({
    type: z.literal(INFERENCE_BUDGET),
    limit_micros: nonNegativeMicrosSchema,
    currency: currencySchema,
    period: budgetPeriodSchema,
    expires_at: timestampInputSchema.optional(),
  })
  .meta({ id: 'InferenceBudget' });

export type InferenceBudget = z.infer<typeof inferenceBudgetSchema>;

/** Authorization details of a request or a grant: at most one budget. */
export const authorizationDetailsSchema = z.array(inferenceBudgetSchema).max(1);
