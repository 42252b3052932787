export { type AppRecord, findAppById, holdApp, iconUrl, isOwned, lockAppsOfOwner } from './app-record.ts';
export { appOperatorRoutes, appReportRoutes, countAppsWithOpenReports, deleteReportsBefore } from './app-reports.ts';
export {
  type ClientDocuments,
  createClientDocuments,
  deleteUnusedDocumentedApps,
  documentOperatorRoutes,
  type FetchSource,
  type FindAskingApp,
  withDocuments,
} from './client-documents.ts';
export { appInternalRoutes, isLiveSecret } from './client-secrets.ts';
export { deleteAppsOfOwner, endSecretsOfOwner, suspendAppsOfOwner } from './delete-apps.ts';
export { createFetchDocument } from './fetch-document.ts';
export {
  type AppFinder,
  createAppFinder,
  findConnectedApps,
  type OauthClient,
  type OauthClientJson,
  oauthClientJson,
  toOauthClient,
} from './find-apps.ts';
export { getIcon, type Icon } from './icons.ts';
export { addToRedirectUri, isRegisteredRedirectUri, toFormActionSource, toRedirectHost } from './redirect-uri.ts';
export { appRoutes } from './routes.ts';
export { countSuspensions, startSuspensions } from './suspensions.ts';
