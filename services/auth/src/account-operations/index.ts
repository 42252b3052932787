export { endLostTokens } from './end-lost-tokens.ts';
export { accountOperationRoutes } from './routes.ts';
