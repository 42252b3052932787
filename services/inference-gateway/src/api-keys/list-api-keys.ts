import type { routes } from '@svc/contracts';
import type { Reply, RequestContext } from '@svc/service-kit';
import { showApiKey } from './api-key.ts';
import type { ApiKeyDeps } from './api-key-deps.ts';
import { listApiKeysByUser } from './queries.ts';
import { readSpending } from './read-spending.ts';

/** Lists the keys of this account that are not deleted, newest first. */
export const listApiKeys = async (
  deps: ApiKeyDeps,
  context: RequestContext<typeof routes.listKeys>,
): Promise<Reply> => {
  const keys = await listApiKeysByUser(deps.database, context.caller.userId);
  const spending = await readSpending(deps, context, keys);
  const nowMs = deps.clock();
  const data = keys.map((key, index) => showApiKey(key, { spentMicros: spending?.[index] ?? null, nowMs }));
  return { status: 200, body: { data } };
};
