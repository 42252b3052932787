export { gatewayRoutes } from './routes.ts';
