export { endAccountAccess } from './end-account-access.ts';
export { credentialRoutes } from './routes.ts';
