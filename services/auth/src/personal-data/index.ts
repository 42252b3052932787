export type { ExportAccountDeps } from './export-account.ts';
export { personalDataRoutes } from './routes.ts';
