export { deleteAlertSettings } from './queries.ts';
export { alertRoutes } from './routes.ts';
