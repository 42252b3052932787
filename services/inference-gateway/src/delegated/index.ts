export { createActivityCounter } from './activity-counter.ts';
export { delegatedRoutes } from './routes.ts';
