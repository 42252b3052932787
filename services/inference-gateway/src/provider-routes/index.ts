export { openRoutesFile, type RoutesFileOptions, type RoutesInForce, routesOperatorRoutes } from './operator-routes.ts';
export { providerKeysFrom, type ReadProviderKey } from './parse-routes-file.ts';
export {
  type AudioRoute,
  type OfferedModel,
  operationName,
  type Provider,
  type Route,
  type RouteService,
  type RouteTable,
  type TokenRoute,
} from './route-table.ts';
export { watchCertifications } from './watch-certifications.ts';
