import { recordAct } from '@svc/database';
import { type Act, AppError } from '@svc/service-kit';
import { isCustomer } from '../subscriptions/index.ts';
import { createPortal, type PortalOrder, type StripeDeps } from './stripe/index.ts';

/** Opens Stripe's portal. Throws `billing_account_missing` if the account has never bought anything. */
export const openPortal = async (
  deps: StripeDeps,
  { act, ...order }: PortalOrder & { readonly act: Act },
): Promise<{ url: string }> => {
  if (!(await isCustomer(deps.database, order.userId))) throw new AppError('billing_account_missing');
  const portal = await createPortal(deps, order);
  await deps.database.transaction((trx) => recordAct(trx, act, { type: 'portal', id: null, name: null }));
  return portal;
};
