export { findExtraStanding } from './queries.ts';
export { extraUsageRoutes } from './routes.ts';
