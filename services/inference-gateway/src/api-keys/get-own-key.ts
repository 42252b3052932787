import type { routes } from '@svc/contracts';
import { AppError, type Reply, type RequestContext } from '@svc/service-kit';
import { showApiKey } from './api-key.ts';
import type { ApiKeyDeps } from './api-key-deps.ts';
import { findApiKey } from './queries.ts';

/** Returns the key that authenticated the request, with the available balance of its wallet. */
export const getOwnKey = async (deps: ApiKeyDeps, context: RequestContext<typeof routes.getOwnKey>): Promise<Reply> => {
  const { caller, requestId } = context;
  const [key, spending, names] = await Promise.all([
    findApiKey(deps.database, caller.keyId),
    deps.billing.keySpending([caller.keyId], { userId: caller.userId, requestId }),
    deps.creatorNames(caller.creatorId === undefined ? [] : [caller.creatorId], context),
  ]);
  if (key === undefined) throw new AppError('invalid_api_key');
  const [spentMicros = 0] = spending.spent_this_month_micros;
  const creatorName = names.get(key.createdBy) ?? null;
  const shown = showApiKey(key, { spentMicros, creatorName, nowMs: deps.clock() });
  return { status: 200, body: { ...shown, wallet: spending.wallet } };
};
