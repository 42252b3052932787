export { type ApiKey, apiKeyText } from './api-key.ts';
export type { ApiKeyDeps } from './api-key-deps.ts';
export { batchKeyFinds } from './batch-key-finds.ts';
export { startAccessConsumer, startErasureConsumer } from './consumer.ts';
export { createKeyAuthenticator } from './create-key-authenticator.ts';
export { createLastUseTracker, type LastUseTracker } from './create-last-use-tracker.ts';
export { createLimitReporter, type LimitReporterDeps } from './create-limit-reporter.ts';
export { createKeyDigests, keyDigestUse } from './key-digests.ts';
export { apiKeyInternalRoutes, apiKeyRoutes } from './routes.ts';
