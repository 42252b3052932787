export { endManagementKeys, endManagementKeysOfCreator } from './end-management-keys.ts';
export { authenticateManagementKey, managementKeyInternalRoutes, managementKeyRoutes } from './routes.ts';
