import type { Binding } from '@svc/service-kit';
import { checkoutRoutes } from './checkout-routes.ts';
import { type ControlDeps, controlRoutes } from './control-routes.ts';
import { invoiceRoutes } from './invoice-routes.ts';
import { portalRoutes } from './portal-routes.ts';

export type RouteDeps = ControlDeps;

/** Routes below `/sandbox/payments`: the hosted pages, and the controls that replace a browser and time. */
export const sandboxPaymentRoutes = (deps: RouteDeps): Binding[] => [
  ...checkoutRoutes(deps),
  ...portalRoutes(deps),
  ...invoiceRoutes(deps),
  ...controlRoutes(deps),
];
