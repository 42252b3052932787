export {
  type ClientDocuments,
  createClientDocuments,
  createFetchDocument,
  type FetchSource,
  type FindAskingApp,
  withDocuments,
} from './client-documents.ts';
export { documentOperatorRoutes } from './operator-routes.ts';
export { deleteUnusedDocumentedApps } from './queries.ts';
