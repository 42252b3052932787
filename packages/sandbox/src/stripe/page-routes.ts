import type { Binding } from '@svc/service-kit';
import type { Account } from './account.ts';
import { checkoutRoutes } from './checkout-routes.ts';
import { controlRoutes } from './control-routes.ts';
import { invoiceRoutes } from './invoice-routes.ts';
import { portalRoutes } from './portal-routes.ts';

/** Routes below `/sandbox/payments`: the hosted pages, and the controls that replace a browser and time. */
export const pageBindings = (account: Account): Binding[] => [
  ...checkoutRoutes(account),
  ...portalRoutes(account),
  ...invoiceRoutes(account),
  ...controlRoutes(account),
];
