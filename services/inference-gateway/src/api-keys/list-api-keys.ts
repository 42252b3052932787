import type { routes } from '@svc/contracts';
import { AppError, type Reply, type RequestContext } from '@svc/service-kit';
import type { ApiKeyDeps } from './api-key-deps.ts';
import { describeKey, describeKeys } from './describe-keys.ts';
import { isInScope, keyScopeOf } from './key-scope.ts';
import { findApiKey, listApiKeys as listKeys } from './queries.ts';

/** Lists the keys that the caller may see and that are not deleted, newest first. */
export const listApiKeys = async (
  deps: ApiKeyDeps,
  context: RequestContext<typeof routes.listKeys>,
): Promise<Reply> => {
  const keys = await listKeys(deps.database, keyScopeOf(context.caller));
  return { status: 200, body: { data: await describeKeys(deps, context, keys) } };
};

/** Returns a key that the caller may see and that is not deleted. Throws `not_found`. */
export const getApiKey = async (deps: ApiKeyDeps, context: RequestContext<typeof routes.getKey>): Promise<Reply> => {
  const key = await findApiKey(deps.database, context.params.key_id);
  if (key === undefined || !isInScope(keyScopeOf(context.caller), key)) throw new AppError('not_found');
  return { status: 200, body: await describeKey(deps, context, key) };
};
