import { remainingBudgetMicros, type SvcClient } from '@svc/partner-sdk';

/** Returns a text such as "€0.40 of €2.00 left", or undefined if the user has set no limit. */
export const describeBudget = async (client: SvcClient, currency: string): Promise<string | undefined> => {
  const usage = await client.usage();
  const left = remainingBudgetMicros(usage);
  if (left === undefined) return undefined;
  const money = new Intl.NumberFormat('en', { style: 'currency', currency });
  return `${money.format(left / 1e6)} of ${money.format(Number(usage.app.limit_micros) / 1e6)} left`;
};
