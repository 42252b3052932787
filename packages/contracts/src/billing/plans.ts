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

/** A half-open span of time: `start` belongs to it, `end` to the next one. */
export interface Period {
  readonly start: Date;
  readonly end: Date;
}

/**
 * Returns the period of this many months that contains `at`, counted from an anchor in UTC. Each period begins on the
 * anchor's day of the month, or on the last day of a shorter month: 31 January, 28 February, 31 March.
 */
export const anniversaryPeriod = (anchor: Date, months: number, at: Date): Period => {
  const monthsAfter = (at.getUTCFullYear() - anchor.getUTCFullYear()) * 12 + at.getUTCMonth() - anchor.getUTCMonth();
  const periods = Math.floor(monthsAfter / months);
  const begun = anniversary(anchor, periods * months) > at ? periods - 1 : periods;
  return { start: anniversary(anchor, begun * months), end: anniversary(anchor, (begun + 1) * months) };
};

const anniversary = (anchor: Date, months: number): Date => {
  const month = anchor.getUTCMonth() + months;
  const daysInMonth = new Date(Date.UTC(anchor.getUTCFullYear(), month + 1, 0)).getUTCDate();
  const date = new Date(anchor);
  date.setUTCFullYear(anchor.getUTCFullYear(), month, Math.min(anchor.getUTCDate(), daysInMonth));
  return date;
};
