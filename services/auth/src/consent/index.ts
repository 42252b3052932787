export { createFormTokens, pageRoutes } from './pages/index.ts';
export { consentRoutes } from './routes.ts';
