import { type ConfiguredPlan, minorUnitOf, stripePriceOf } from '@svc/contracts';
import type { Price } from './objects.ts';

const microsPerMinor = (currency: string): number => {
  const unit = minorUnitOf(currency.toUpperCase());
  if (unit === undefined) throw new RangeError(`the minor unit of ${currency} is not known`);
  return unit.micros;
};

/** Converts an amount in Stripe's minor units to micros. */
export const toMicros = (amount: number, currency: string): number => amount * microsPerMinor(currency);

/** Converts micros to Stripe's minor units. */
export const toMinor = (micros: number, currency: string): number => micros / microsPerMinor(currency);

/** Converts Stripe's seconds to a date. */
export const toDate = (seconds: number): Date => new Date(seconds * 1000);

/** Converts a date to Stripe's seconds. */
export const toSeconds = (date: Date): number => Math.floor(date.getTime() / 1000);

/** Plans on sale, each with its price at Stripe. */
export interface Catalog {
  readonly plans: readonly ConfiguredPlan[];
  readonly find: (planId: string) => ConfiguredPlan | undefined;
  readonly findByPrice: (priceId: string) => ConfiguredPlan | undefined;
}

export const createCatalog = (plans: readonly ConfiguredPlan[]): Catalog => ({
  plans,
  find: (planId) => plans.find(({ id }) => id === planId),
  findByPrice: (priceId) => plans.find((plan) => stripePriceOf(plan) === priceId),
});

/** Returns the price of a plan as Stripe shows it. */
export const toPrice = (plan: ConfiguredPlan): Price => {
  const { amount_micros: amount, currency, interval } = plan.price;
  const id = stripePriceOf(plan);
  return {
    id,
    object: 'price',
    active: true,
    billing_scheme: 'per_unit',
    currency: currency.toLowerCase(),
    livemode: false,
    metadata: {},
    nickname: plan.name,
    product: `prod_of_${id}`,
    recurring: { interval, interval_count: 1, usage_type: 'licensed' },
    tax_behavior: 'inclusive',
    type: 'recurring',
    unit_amount: toMinor(amount, currency),
  } as Price;
};
