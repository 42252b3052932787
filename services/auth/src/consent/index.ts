export { createFormTokens, createPushedMarks, pageRoutes, refuseUnknownPushedRequest } from './pages/index.ts';
export { consentRoutes } from './routes.ts';
