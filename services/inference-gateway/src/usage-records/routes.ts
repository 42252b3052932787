import { routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';
import { listGatewayUsage } from './list-gateway-usage.ts';

/** Binds the list of gateway usage. */
export const usageRoutes = (deps: { readonly database: Knex }): readonly Binding[] => [
  bind(routes.listGatewayUsage, (context) => listGatewayUsage(deps, context)),
];
