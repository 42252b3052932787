import { AppError } from '@svc/service-kit';
import type { Knex } from 'knex';
import { isCustomer } from '../subscriptions/index.ts';
import type { PaymentProvider, PortalOrder } from './provider.ts';

/** Opens the provider's portal. Throws `billing_account_missing` if the account has never bought anything. */
export const openPortal = async (
  deps: { readonly database: Knex; readonly provider: PaymentProvider },
  order: PortalOrder,
): Promise<{ url: string }> => {
  if (!(await isCustomer(deps.database, order.userId))) throw new AppError('billing_account_missing');
  return deps.provider.createPortal(order);
};
