export { createFormTokens } from './form-token.ts';
export { pageRoutes } from './page-routes.ts';
