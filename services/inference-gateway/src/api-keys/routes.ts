import { routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { ApiKeyDeps } from './api-key-deps.ts';
import { createApiKey } from './create-api-key.ts';
import { deleteApiKey } from './delete-api-key.ts';
import { listApiKeys } from './list-api-keys.ts';

/** Binds the management of API keys. */
export const apiKeyRoutes = (deps: ApiKeyDeps): readonly Binding[] => [
  bind(routes.createKey, (context) => createApiKey(deps, context)),
  bind(routes.listKeys, (context) => listApiKeys(deps, context)),
  bind(routes.deleteKey, (context) => deleteApiKey(deps, context)),
];
