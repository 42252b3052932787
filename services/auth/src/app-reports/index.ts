export { appOperatorRoutes } from './operator-routes.ts';
export { deleteReportsBefore } from './queries.ts';
export { appReportRoutes } from './routes.ts';
