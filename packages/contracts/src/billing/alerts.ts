import { z } from 'zod';
import { idSchema, pathIdSchema } from '../core/ids.ts';
import { currencySchema, microsSchema, nonNegativeMicrosSchema } from '../core/money.ts';
import { timestampSchema } from '../core/time.ts';

/** Thresholds of one account; more than anyone needs. */
const THRESHOLDS_MAX = 20;

/** Thresholds at which an account gets alerts by mail. */
export const alertSettingsSchema = z
  .strictObject({
    thresholds_percent: z
      .array(z.int().min(1).max(100))
      .max(THRESHOLDS_MAX)
      .meta({ description: 'Percent of each cap, budget and limit. Empty turns these alerts off.' }),
    wallet_below_micros: z
      .int()
      .min(1)
      .nullable()
      .meta({ description: 'Balance of the wallet below which an alert is mailed. Null turns it off.' }),
  })
  .meta({ id: 'AlertSettings' });

export type AlertSettings = z.infer<typeof alertSettingsSchema>;

/** An alert that is due. */
export const alertSchema = z.object({
  svc_user_id: idSchema('usr'),
  subject: z.enum(['weekly_cap', 'monthly_cap', 'app_budget', 'extra_use', 'api_key', 'wallet']),
  client_id: pathIdSchema.nullable().meta({ description: 'The app, for `app_budget`.' }),
  key_id: pathIdSchema.nullable().meta({ description: 'The API key, for `api_key`.' }),
  plan_name: z.string().nullable().meta({ description: 'The plan, for its caps.' }),
  threshold_percent: z.int().min(1).max(100).nullable().meta({ description: 'Null for `wallet`.' }),
  amount_micros: microsSchema.meta({ description: 'Use in the window; for `wallet`, its balance.' }),
  limit_micros: nonNegativeMicrosSchema.meta({
    description: 'Cap, budget or limit; for `wallet`, the amount that the balance fell below.',
  }),
  resets_at: timestampSchema.nullable().meta({ description: 'Null for `wallet` and a budget in total.' }),
  currency: currencySchema
    .nullable()
    .meta({ description: 'Of the wallet; null for the others, which are in that of the deployment.' }),
});

export type Alert = z.infer<typeof alertSchema>;
