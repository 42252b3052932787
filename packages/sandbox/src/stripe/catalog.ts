import { type ConfiguredPlan, stripePriceOf } from '@svc/contracts';
import { toMinor } from './amounts.ts';
import type { Price } from './objects.ts';

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
