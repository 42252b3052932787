export { appOperatorRoutes } from './operator-routes.ts';
export { countAppsWithOpenReports, deleteReportsBefore } from './queries.ts';
export { appReportRoutes } from './routes.ts';
