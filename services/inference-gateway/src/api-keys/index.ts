export { apiKeyText } from './api-key.ts';
export { keyDigestUse } from './authenticate-keys.ts';
export { createLimitReporter, type LimitReporterDeps } from './limit-reporter.ts';
export { openApiKeys } from './open-api-keys.ts';
export { apiKeyInternalRoutes, apiKeyRoutes } from './routes.ts';
