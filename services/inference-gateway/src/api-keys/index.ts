export type { ApiKey } from './api-key.ts';
export type { ApiKeyDeps } from './api-key-deps.ts';
export { batchKeyFinds } from './batch-key-finds.ts';
export { startAccessConsumer, startErasureConsumer } from './consumer.ts';
export { createKeyAuthenticator } from './create-key-authenticator.ts';
export { createLastUseTracker, type LastUseTracker } from './create-last-use-tracker.ts';
export { KEY_PREFIX } from './key-text.ts';
export { apiKeyRoutes } from './routes.ts';
