export { endManagementKeys, endManagementKeysOfCreator } from './end-management-keys.ts';
export { authenticateManagementKey } from './find-management-keys.ts';
export { managementKeyInternalRoutes, managementKeyRoutes } from './routes.ts';
