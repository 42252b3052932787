export { type AppRecord, iconUrl, isOwned } from './app.ts';
export { type AppFinder, createAppFinder } from './app-finder.ts';
export { isLiveSecret } from './client-secret.ts';
export { deleteAppsOfOwner, endSecretsOfOwner, suspendAppsOfOwner } from './end-apps-of-owner.ts';
export { findConnectedApps } from './find-connected-apps.ts';
export type { Icon } from './icons.ts';
export { getIcon } from './icons.ts';
export { appInternalRoutes } from './internal-routes.ts';
export { type OauthClient, type OauthClientJson, oauthClientJson, toOauthClient } from './oauth-client.ts';
export {
  type DocumentedApp,
  findAppById,
  holdApp,
  listAppsByIds,
  lockAppsOfOwner,
  upsertDocumentedApp,
} from './queries.ts';
export {
  addToRedirectUri,
  findRedirectUriFault,
  isRegisteredRedirectUri,
  toFormActionSource,
  toRedirectHost,
} from './redirect-uri.ts';
export { appRoutes } from './routes.ts';
export { startSuspensions } from './run-suspensions.ts';
export { resumeApp, type SuspendAppDeps, suspendApp } from './suspend-app.ts';
export { countSuspensions } from './suspension-queries.ts';
