import { z } from 'zod';
import { localeSchema } from '../auth/accounts.ts';
import { currencySchema, nonNegativeMicrosSchema } from '../core/money.ts';

/** Kinds of inference included in a plan. */
export const planServicesSchema = z
  .object({ chat: z.boolean(), audio_transcription: z.boolean() })
  .meta({ id: 'PlanServices' });

export type PlanServices = z.infer<typeof planServicesSchema>;

const priceSchema = z.object({
  amount_micros: nonNegativeMicrosSchema,
  currency: currencySchema,
  interval: z.enum(['month', 'year']),
});

/** Text in some of the languages. */
const translationsSchema = z.partialRecord(localeSchema, z.string().min(1));

/** A plan as shown to the public. `description` stands in for languages that `descriptions` lacks. */
export const planSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    descriptions: translationsSchema.optional(),
    price: priceSchema,
    services: planServicesSchema,
    weekly_limit_micros: nonNegativeMicrosSchema,
    monthly_limit_micros: nonNegativeMicrosSchema,
  })
  .meta({ id: 'Plan' });

export type Plan = z.infer<typeof planSchema>;

/** Schema of the plans file (`PLANS_FILE`, YAML). */
export const plansFileSchema = z.strictObject({
  plans: z
    .array(
      planSchema
        .extend({
          id: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,62}$/),
          name: z.string().min(1).max(80),
          services: planServicesSchema.strict(),
          price: priceSchema.strict(),
          stripe_price_id: z.string().min(1).optional(),
        })
        .strict(),
    )
    .min(1)
    .refine((plans) => new Set(plans.map((plan) => plan.id)).size === plans.length, {
      message: 'plan ids must be unique',
    }),
});

/** A plan of the plans file. */
export type ConfiguredPlan = z.infer<typeof plansFileSchema>['plans'][number];

/** Returns the id of a plan's price at Stripe. Without one in the plans file, it is the price that the stand-in has for it. */
export const stripePriceOf = ({ id, stripe_price_id: priceId }: ConfiguredPlan): string => priceId ?? `price_of_${id}`;

export const planReferenceSchema = z.object({ id: z.string(), name: z.string() });
