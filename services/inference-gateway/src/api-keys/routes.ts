import { internalRoutes, routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { ApiKeyDeps } from './api-key-deps.ts';
import { createApiKey } from './create-api-key.ts';
import { deleteApiKey } from './delete-api-key.ts';
import { getOwnKey } from './get-own-key.ts';
import { getApiKey, listApiKeys } from './list-api-keys.ts';
import { findKeyName } from './queries.ts';
import { rotateApiKey } from './rotate-api-key.ts';
import { updateApiKey } from './update-api-key.ts';

/** Binds the management of API keys. */
export const apiKeyRoutes = (deps: ApiKeyDeps): readonly Binding[] => [
  bind(routes.createKey, (context) => createApiKey(deps, context)),
  bind(routes.listKeys, (context) => listApiKeys(deps, context)),
  bind(routes.getKey, (context) => getApiKey(deps, context)),
  bind(routes.updateKey, (context) => updateApiKey(deps, context)),
  bind(routes.rotateKey, (context) => rotateApiKey(deps, context)),
  bind(routes.getOwnKey, (context) => getOwnKey(deps, context)),
  bind(routes.deleteKey, (context) => deleteApiKey(deps, context)),
];

/** Binds the internal routes of API keys. */
export const apiKeyInternalRoutes = ({ database }: { readonly database: Knex }): readonly Binding[] => [
  bind(internalRoutes.readKeyName, async ({ params: { key_id: id, svc_user_id: userId } }) => ({
    status: 200,
    body: { name: (await findKeyName(database, { id, userId })) ?? null },
  })),
];
