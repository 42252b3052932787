export { usageInternalRoutes, usageRoutes } from './routes.ts';
