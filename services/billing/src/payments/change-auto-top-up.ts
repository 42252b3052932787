import type { AutoTopUp, Locale } from '@svc/contracts';
import { recordAct } from '@svc/database';
import { type Act, AppError } from '@svc/service-kit';
import { upsertAutoTopUp } from './auto-top-up-queries.ts';
import { checkPayable } from './payable.ts';
import { hasPaymentMethod, type StripeDeps, withCustomer } from './stripe/index.ts';

/**
 * Replaces the settings of automatic top-ups. Throws `payment_method_missing` if they are turned on without a saved
 * payment method, and 422 for an amount that Stripe does not charge.
 */
export const changeAutoTopUp = async (
  deps: StripeDeps & { readonly currency: string },
  { userId, locale, act }: { readonly userId: string; readonly locale?: Locale | undefined; readonly act: Act },
  settings: AutoTopUp,
): Promise<AutoTopUp> => {
  checkPayable(deps.currency, settings.amount_micros);
  if (settings.enabled && !(await hasPaymentMethod(deps, userId))) throw new AppError('payment_method_missing');
  if (settings.enabled && locale !== undefined) {
    await withCustomer(deps, { userId, locale }, async () => undefined);
  }
  await deps.database.transaction(async (trx) => {
    await upsertAutoTopUp(trx, userId, settings);
    await recordAct(trx, act, { type: 'auto_top_up', id: null, name: null });
  });
  return settings;
};
