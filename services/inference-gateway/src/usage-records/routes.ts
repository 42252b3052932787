import { routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import { listGatewayUsage, type UsageListDeps } from './list-gateway-usage.ts';
import { summarizeGatewayUsage } from './summarize-gateway-usage.ts';

/** Binds the list of gateway usage. */
export const usageRoutes = (deps: UsageListDeps): readonly Binding[] => [
  bind(routes.listGatewayUsage, (context) => listGatewayUsage(deps, context)),
  bind(routes.summarizeGatewayUsage, (context) => summarizeGatewayUsage(deps, context)),
];
