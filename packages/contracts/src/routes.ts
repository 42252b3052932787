import { authInternalRoutes, authRoutes, recordedActsRoute } from './auth/index.ts';
import { billingInternalRoutes, billingRoutes, sandboxRoutes } from './billing/index.ts';
import {
  type InternalCaller,
  internalCallers,
  personalDataRoute,
  type RouteDefinition,
  type ServiceName,
} from './core/index.ts';
import { inferenceGatewayInternalRoutes, inferenceGatewayRoutes } from './inference-gateway/index.ts';
import {
  accountOperations,
  appOperations,
  documentOperations,
  inboxOperations,
  organizationOperations,
  outboxOperations,
  previewRestore,
  restoreOperations,
  secretOperations,
  serviceOperations,
  unadmittedOperations,
} from './operations/index.ts';
import { webhookDispatcherRoutes } from './webhook-dispatcher/index.ts';

/** Public routes by operation id. Bindings, ingress, documents and clients are derived from this table. */
export const routes = {
  ...authRoutes,
  ...billingRoutes,
  ...inferenceGatewayRoutes,
  ...webhookDispatcherRoutes,
} as const;

/** Every route between services. None is reachable through the ingress. */
export const internalRoutes = {
  ...authInternalRoutes,
  ...billingInternalRoutes,
  ...inferenceGatewayInternalRoutes,
  listBillingActs: recordedActsRoute('billing', 'listBillingActs'),
  listGatewayActs: recordedActsRoute('inference-gateway', 'listGatewayActs'),
  listWebhookActs: recordedActsRoute('webhook-dispatcher', 'listWebhookActs'),
  exportBillingData: personalDataRoute('billing', 'exportBillingData'),
  exportGatewayData: personalDataRoute('inference-gateway', 'exportGatewayData'),
  exportWebhookData: personalDataRoute('webhook-dispatcher', 'exportWebhookData'),
} as const;

export const allRoutes: readonly RouteDefinition[] = Object.values(routes);

/** Routes that the OpenAPI document describes: those of the services, and those of the stand-in for Stripe. */
export const documentedRoutes: readonly RouteDefinition[] = [...allRoutes, ...Object.values(sandboxRoutes)];

/** All routes of the internal ports: between services, and for the operator. */
export const allInternalRoutes: readonly RouteDefinition[] = [
  ...Object.values(internalRoutes),
  ...Object.values(serviceOperations),
  ...Object.values(accountOperations),
  ...Object.values(appOperations),
  ...Object.values(organizationOperations),
  ...Object.values(documentOperations),
  ...Object.values(restoreOperations),
  ...Object.values(secretOperations.list),
  ...Object.values(secretOperations.reencrypt),
  ...Object.values(unadmittedOperations),
  previewRestore,
  ...Object.values(outboxOperations).flatMap((operations) => Object.values(operations)),
  ...Object.values(inboxOperations).flatMap((operations) => Object.values(operations)),
];

/** Returns the allowed callers of a service's internal routes. */
export const callersOf = (service: ServiceName): readonly InternalCaller[] =>
  internalCallers.filter((caller) =>
    allInternalRoutes.some((route) => route.service === service && route.callers?.includes(caller)),
  );

/** Returns the public routes of one service. */
export const routesOf = (service: ServiceName): readonly RouteDefinition[] =>
  allRoutes.filter((route) => route.service === service);
