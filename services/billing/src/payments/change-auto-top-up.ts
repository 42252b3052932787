import type { AutoTopUp, Locale } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import { upsertAutoTopUp } from './auto-top-up-queries.ts';
import { checkPayable } from './payable.ts';
import { hasPaymentMethod, type StripeDeps, withCustomer } from './stripe/index.ts';

/**
 * Replaces the settings of automatic top-ups. Throws `payment_method_missing` if they are turned on without a saved
 * payment method, and 422 for an amount that Stripe does not charge.
 */
export const changeAutoTopUp = async (
  deps: StripeDeps & { readonly currency: string },
  { userId, locale }: { readonly userId: string; readonly locale?: Locale },
  settings: AutoTopUp,
): Promise<AutoTopUp> => {
  checkPayable(deps.currency, settings.amount_micros);
  if (settings.enabled && !(await hasPaymentMethod(deps, userId))) throw new AppError('payment_method_missing');
  if (settings.enabled && locale !== undefined) {
    await withCustomer(deps, { userId, locale }, async () => undefined);
  }
  await upsertAutoTopUp(deps.database, userId, settings);
  return settings;
};
