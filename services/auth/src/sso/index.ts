export { ssoRoutes } from './routes.ts';
export type { SsoSettings } from './upstream-provider.ts';
