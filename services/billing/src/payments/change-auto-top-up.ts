import type { AutoTopUp, Locale } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import type { Knex } from 'knex';
import { upsertAutoTopUp } from './auto-top-up-queries.ts';
import { checkPayable } from './create-checkout.ts';
import type { PaymentProvider } from './provider.ts';

/**
 * Replaces the settings of automatic top-ups. Throws `payment_method_missing` if they are turned on without a saved
 * payment method, and 422 for an amount that the provider does not accept.
 */
export const changeAutoTopUp = async (
  { database, provider }: { readonly database: Knex; readonly provider: PaymentProvider },
  { userId, locale }: { readonly userId: string; readonly locale?: Locale },
  settings: AutoTopUp,
): Promise<AutoTopUp> => {
  checkPayable(provider.topUps, settings.amount_micros);
  if (settings.enabled && !(await provider.hasPaymentMethod(userId))) throw new AppError('payment_method_missing');
  if (settings.enabled && locale !== undefined) await provider.preferLocale(userId, locale);
  await upsertAutoTopUp(database, userId, settings);
  return settings;
};
