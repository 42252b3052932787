import { AppError } from '@svc/service-kit';
import { isCustomer } from '../subscriptions/index.ts';
import { createPortal, type PortalOrder, type StripeDeps } from './stripe/index.ts';

/** Opens Stripe's portal. Throws `billing_account_missing` if the account has never bought anything. */
export const openPortal = async (deps: StripeDeps, order: PortalOrder): Promise<{ url: string }> => {
  if (!(await isCustomer(deps.database, order.userId))) throw new AppError('billing_account_missing');
  return createPortal(deps, order);
};
