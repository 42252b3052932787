export { openRoutesFile, type RoutesFileOptions, type RoutesInForce, routesOperatorRoutes } from './operator-routes.ts';
export { parseRoutesFile, RoutesFileError } from './parse-routes-file.ts';
export { providerKeysFrom, type ReadProviderKey } from './read-provider-key.ts';
export type {
  AudioRoute,
  OfferedModel,
  Provider,
  Route,
  RouteService,
  RouteTable,
  TokenRoute,
} from './route-table.ts';
export { watchCertifications } from './watch-certifications.ts';
