export type { GatewayDeps } from './gateway-deps.ts';
export { gatewayRoutes } from './routes.ts';
