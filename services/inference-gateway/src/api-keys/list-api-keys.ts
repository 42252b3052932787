import type { routes } from '@svc/contracts';
import type { Reply, RequestContext } from '@svc/service-kit';
import { showApiKey } from './api-key.ts';
import type { ApiKeyDeps } from './api-key-deps.ts';
import { listApiKeysByUser } from './queries.ts';

/** The keys of this account, newest first, without the deleted ones. */
export const listApiKeys = async (
  deps: ApiKeyDeps,
  { caller }: RequestContext<typeof routes.listKeys>,
): Promise<Reply> => {
  const keys = await listApiKeysByUser(deps.database, caller.userId);
  return { status: 200, body: { data: keys.map(showApiKey) } };
};
