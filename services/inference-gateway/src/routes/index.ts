export type { OfferedModel } from './offered-models.ts';
export { openRoutesFile, type RoutesFileOptions, type RoutesInForce } from './open-routes-file.ts';
export { routesOperatorRoutes } from './operator-routes.ts';
export { parseRoutesFile, RoutesFileError } from './parse-routes-file.ts';
export { providerKeysFrom, type ReadProviderKey } from './read-provider-key.ts';
export type {
  AudioRoute,
  Provider,
  Route,
  RouteService,
  RouteTable,
  TokenRoute,
} from './route-table.ts';
export { watchCertifications } from './watch-certifications.ts';
