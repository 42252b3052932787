export type { DelegatedDeps } from './delegated-deps.ts';
export { delegatedRoutes } from './routes.ts';
