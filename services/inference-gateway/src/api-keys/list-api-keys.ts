import type { routes } from '@svc/contracts';
import { AppError, type Reply, type RequestContext } from '@svc/service-kit';
import { showApiKey } from './api-key.ts';
import type { ApiKeyDeps } from './api-key-deps.ts';
import { findApiKey, listApiKeysByUser } from './queries.ts';
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

/** Returns a key of this account that is not deleted. Throws `not_found`. */
export const getApiKey = async (deps: ApiKeyDeps, context: RequestContext<typeof routes.getKey>): Promise<Reply> => {
  const key = await findApiKey(deps.database, context.params.key_id);
  if (key?.userId !== context.caller.userId) throw new AppError('not_found');
  const [spentMicros = null] = (await readSpending(deps, context, [key])) ?? [];
  return { status: 200, body: showApiKey(key, { spentMicros, nowMs: deps.clock() }) };
};
