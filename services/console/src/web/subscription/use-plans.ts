import type { Plan, Subscription } from '@svc/contracts';
import { useApiQuery } from '../api/index.ts';

/** Currency of the product, if no plan names one. */
const CURRENCY = 'EUR';

/** Returns the currency of a subscription's caps: that of its plan. */
export const currencyOf = (
  plans: readonly Plan[] | undefined,
  subscription: Pick<Subscription, 'plan'> | null,
): string => (plans?.find(({ id }) => id === subscription?.plan.id) ?? plans?.[0])?.price.currency ?? CURRENCY;

/** Reads the plans on offer, which rarely change. */
export const usePlans = () => useApiQuery('listPlans', {}, { staleTime: 5 * 60_000 });

/** Reads the prices of inference, which change with the operator's files. */
export const usePrices = () => useApiQuery('listPrices', {}, { staleTime: 5 * 60_000 });
