import type { Binding } from '@svc/service-kit';
import { checkoutRoutes, type PageDeps } from './checkout-routes.ts';
import { type ControlDeps, controlRoutes } from './control-routes.ts';
import { portalRoutes } from './portal-routes.ts';

export type RouteDeps = PageDeps & ControlDeps;

/** Routes below `/sandbox/payments`: the hosted pages, and the controls that replace a browser and time. */
export const sandboxPaymentRoutes = (deps: RouteDeps): Binding[] => [
  ...checkoutRoutes(deps),
  ...portalRoutes(deps),
  ...controlRoutes(deps),
];
