export {
  type ClientDocuments,
  createClientDocuments,
  type FetchSource,
  type FindAskingApp,
  withDocuments,
} from './client-documents.ts';
export { createFetchDocument } from './fetch-document.ts';
export { documentOperatorRoutes } from './operator-routes.ts';
export { deleteUnusedDocumentedApps } from './queries.ts';
