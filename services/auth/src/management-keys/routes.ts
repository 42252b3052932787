import { internalRoutes, routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import { type CreateManagementKeyDeps, createManagementKey } from './create-management-key.ts';
import { deleteManagementKey } from './end-management-keys.ts';
import { type FindManagementKeysDeps, findManagementKeys } from './find-management-keys.ts';
import { toManagementKeyJson } from './management-key.ts';
import { listManagementKeysOfUser } from './queries.ts';

/** Binds the routes of management keys. */
export const managementKeyRoutes = (deps: CreateManagementKeyDeps & FindManagementKeysDeps): Binding[] => [
  bind(routes.createManagementKey, async ({ body, caller, act }) => {
    const { name, scopes, expires_at: expiresAt } = body;
    const { userId, personId: createdBy, sessionId } = caller;
    const input = { userId, createdBy, sessionId, name, scopes, expiresAt: expiresAt ?? null };
    const { key, text } = await createManagementKey(deps, input, act);
    return { status: 201, body: { ...toManagementKeyJson(key), key: text } };
  }),
  bind(routes.listManagementKeys, async ({ caller }) => {
    const keys = await listManagementKeysOfUser(deps.database, caller.userId);
    return { status: 200, body: { data: keys.map(toManagementKeyJson) } };
  }),
  bind(routes.deleteManagementKey, async ({ params, caller, act }) => {
    await deleteManagementKey(deps, { userId: caller.userId, id: params.management_key_id, act });
    return { status: 204 };
  }),
];

/** Binds the look-up by other services. */
export const managementKeyInternalRoutes = (deps: FindManagementKeysDeps): Binding[] => [
  bind(internalRoutes.findManagementKeys, async ({ body }) => ({
    status: 200,
    body: {
      data: await findManagementKeys(
        deps,
        body.digests.map((digest) => Buffer.from(digest, 'hex')),
      ),
    },
  })),
];
