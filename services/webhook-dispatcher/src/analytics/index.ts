export { addActivity, deleteActivity } from './queries.ts';
export { analyticsRoutes } from './routes.ts';
